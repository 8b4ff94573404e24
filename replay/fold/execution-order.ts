/**
 * Operations in the order in which the script has them: time decides between siblings, the index decides between
 * iterations of one loop, so that a parallel loop reads in the order of its items.
 */
import type { OpPath } from '../../journal/ids.js';
import { iterationOf } from './op-path.js';

interface Step {
  /** Position in the list at which anything below this operation was first seen. */
  readonly firstSeen: number;
  /** -1 for what is no iteration. */
  readonly index: number;
}

/** `operations` in the order of their events. */
export function inExecutionOrder<Operation extends { readonly op: OpPath }>(operations: readonly Operation[]): Operation[] {
  const firstSeen = new Map<string, number>();
  const steps = operations.map(({ op }, position) => stepsOf(op, position, firstSeen));
  // Steps that name one operation carry the same numbers, so comparing step by step walks down the common ancestors.
  return operations
    .map((operation, position) => ({ operation, steps: steps[position] as Step[], position }))
    .sort((left, right) => compareSteps(left.steps, right.steps) || left.position - right.position)
    .map(({ operation }) => operation);
}

function stepsOf(op: OpPath, position: number, firstSeen: Map<string, number>): Step[] {
  const steps: Step[] = [];
  let end = -1;
  do {
    end = op.indexOf('/', end + 1);
    const path = (end < 0 ? op : op.slice(0, end)) as OpPath;
    const { loop: base, index } = iterationOf(path) ?? { loop: path, index: -1 };
    let seen = firstSeen.get(base);
    if (seen === undefined) firstSeen.set(base, (seen = position));
    steps.push({ firstSeen: seen, index });
  } while (end >= 0);
  return steps;
}

function compareSteps(left: readonly Step[], right: readonly Step[]): number {
  const common = Math.min(left.length, right.length);
  for (let depth = 0; depth < common; depth += 1) {
    const [ours, theirs] = [left[depth] as Step, right[depth] as Step];
    const difference = ours.firstSeen - theirs.firstSeen || ours.index - theirs.index;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
