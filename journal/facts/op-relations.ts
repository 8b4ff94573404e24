/** Tells how two operations lie to each other: one inside the other, side by side, or one after the other. calls.md 14.1. */
import type { OpPath } from '../ids.js';

/** Returns whether two operations lie in two iterations of one loop, or in two members of one group: its value has the results of both. */
export function areSideBySide(left: OpPath, right: OpPath): boolean {
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  const bracket = left.lastIndexOf('[', same - 1);
  const partsInside = bracket > left.lastIndexOf(']', same - 1);
  return partsInside && left[bracket + 1] !== GROUP && right[bracket + 1] !== GROUP;
}

/** `[p1]` numbers the groups of a place, which follow each other; `[3]`, `[w1]` and `[g0]` number what is inside a loop or a group. */
const GROUP = 'p';

/** The operation itself and what is inside it. */
export function isInside(op: string, around: string): boolean {
  return op.startsWith(around) && (op.length === around.length || op[around.length] === '/' || op[around.length] === '[');
}

/** Returns whether the operation lies in a guard of the call at `guarded`: `main/ask#0/guard:polite#0/judge#0` in one of `main/ask#0`. */
export function isInGuardOf(op: string, guarded: string): boolean {
  return op.startsWith('/guard:', guarded.length) && op.startsWith(guarded);
}
