/** Holds the attempts in flight, with their lanes. One that waits for a call inside it leaves its place to that call. */
import type { OpPath } from '../../../journal/ids.js';

export class AttemptsInFlight<L> {
  private readonly lanes = new Map<OpPath, L>();

  add(op: OpPath, lane: L): void {
    this.lanes.set(op, lane);
  }

  delete(op: OpPath): void {
    this.lanes.delete(op);
  }

  get size(): number {
    return this.lanes.size;
  }

  every(fits: (op: OpPath) => boolean): boolean {
    for (const op of this.lanes.keys()) if (!fits(op)) return false;
    return true;
  }

  /** True when one of them waits for this call. */
  isInner(op: OpPath): boolean {
    for (const other of this.lanes.keys()) if (isInside(op, other)) return true;
    return false;
  }

  /** Returns how many wait for this call; with `lane` only those in it. */
  around(op: OpPath, lane?: L): number {
    let count = 0;
    for (const [other, its] of this.lanes) if ((lane === undefined || its === lane) && isInside(op, other)) count++;
    return count;
  }
}

/** True for a call that the body of `around` makes, at any depth. */
export function isInside(op: OpPath, around: OpPath): boolean {
  if (op.length <= around.length) return false; // asked about each attempt in flight, when each call starts
  const next = op[around.length]; // looked at first: the paths of a loop's calls differ at their ends
  return (next === '/' || next === '[') && op.startsWith(around);
}
