/**
 * Finds the calls that a run did not execute because an argument had the failure of another call in it. With the results of those calls
 * they have other arguments, so that only their functions tell of them. calls.md 5.3.
 */
import type { CallKey, OpPath } from '../../journal/ids.js';
import type { Projection } from '../fold/projection.js';
import type { Memo } from '../memo/memo.js';

/** Maps the path of a call to its function. */
export type NotExecuted = Map<OpPath, string>;

/** Folds the events of one run. */
export const notExecutedCalls: Projection<NotExecuted> = {
  initial: () => new Map(),
  apply(state, event) {
    if (event.type === 'call.failed' && event.class === 'upstream' && event.fn !== undefined) state.set(event.op, event.fn);
    else if (event.type === 'call.started' || event.type === 'call.reused') state.delete(event.op);
    return state;
  },
};

/** Counts the predicted calls of earlier runs that the last one did not get to, by function: some of them may be the same calls. */
export function predictedBefore(
  predicted: ReadonlySet<CallKey>,
  isInLast: (key: CallKey) => boolean,
  fnOf: (key: CallKey) => string | undefined,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of predicted) {
    const fn = isInLast(key) ? undefined : fnOf(key);
    if (fn !== undefined) counts.set(fn, (counts.get(fn) ?? 0) + 1);
  }
  return counts;
}

/** Returns the functions of the calls that nothing else predicts, and takes those from `before` that it does. */
export function notPredicted(fns: Iterable<string>, before: Map<string, number>): readonly string[] {
  return [...fns].filter((fn) => {
    const known = before.get(fn) ?? 0;
    if (known > 0) before.set(fn, known - 1);
    return known === 0;
  });
}

/** Returns whether the last run of the workflow made the call, which is taken for granted of a call inside another one. */
export function madeLast({ calledIn, runNumber }: Memo, key: CallKey): boolean {
  return (calledIn.get(key) ?? runNumber) === runNumber;
}
