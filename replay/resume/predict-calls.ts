/**
 * Predicts which calls the next run will make, assuming it makes the same calls as the last completed run and the broken ones since. Calls
 * inside an llm call are predicted only where that call is executed, and where guards judge its result (calls.md 17.4), only those that the
 * guards make; a result that none of these runs used is predicted nowhere.
 */
import type { CallKey } from '../../journal/ids.js';
import type { Invalidation } from './invalidation.js';
import { madeLast, notPredicted, predictedBefore } from './not-executed.js';
import { usableEntry, type Memo, type UsableEntry } from '../memo/memo.js';
import { unjudgedEntry } from '../memo/overlay.js';

/** `forks`: a script that has made no calls yet is predicted to make those of its fork sources. */
export function predictCalls(
  own: Memo,
  forks: readonly Memo[],
  isReused: (key: CallKey) => boolean,
  isJudged: (key: CallKey) => boolean,
): ReadonlySet<CallKey> {
  const predicted = predictOutermost(own, forks);
  const inside = insideCalls([own, ...forks]);
  // Grows while it is walked.
  for (const key of predicted) {
    if (isReused(key)) continue;
    const waiting = isJudged(key) ? own.unjudged.get(key) : undefined;
    for (const inner of waiting?.asked ?? inside.get(key) ?? []) predicted.add(inner);
  }
  return predicted;
}

/** Predicts the calls outside of llm calls alone. */
export function predictOutermost(own: Memo, forks: readonly Memo[]): Set<CallKey> {
  const predicted = new Set(calledLately(own));
  if (predicted.size === 0) for (const fork of forks) for (const key of calledLately(fork)) predicted.add(key);
  return predicted;
}

/** Yields the calls made outside of llm calls by the last completed run and the runs since (MEMO-8). */
export function* calledLately({ calledIn, calledFrom }: Memo): Generator<CallKey> {
  for (const [key, number] of calledIn) if (number >= calledFrom) yield key;
}

/** The effect of an invalidation on the next run. */
export interface InvalidationImpact {
  /** Predicted calls that had a result before the invalidation. */
  readonly predicted: number;
  /** The number of them that have none any more. */
  readonly again: number;
  /** Invalidated results that the run does not need: their calls are not predicted, or another result is reused. */
  readonly unaffected: number;
  /** Predicted calls that had no result before. */
  readonly unresolved: number;
  /** The number of them whose result came back, and is judged by the guards in the next run. */
  readonly unjudged: number;
  /** Calls that the prior run did not execute because of others, and that no earlier run predicts. */
  readonly notExecuted: number;
}

/** The results that a run may reuse: its own, and those of its fork sources. */
interface ResultSources {
  readonly own: Memo;
  readonly sources: readonly Memo[];
}

/** The results that a target selects; of `forkedKeys` no fork source's is reused. */
export interface Selected {
  readonly keys: ReadonlySet<CallKey>;
  readonly forkedKeys: ReadonlySet<CallKey>;
}

/** Returns whether the call of a key gets a recorded result. `isFit` may leave results out. */
export function reuseBy(
  { own, sources }: ResultSources,
  { keys, forkedKeys }: Selected,
  isFit: (entry: UsableEntry) => boolean = () => true,
): (key: CallKey) => boolean {
  const isIn = (memo: Memo, key: CallKey): boolean => {
    const entry = usableEntry(memo, key);
    return entry !== undefined && isFit(entry);
  };
  const isForked = (key: CallKey): boolean => !own.refused.has(key) && sources.some((source) => isIn(source, key));
  return (key) => (!keys.has(key) && isIn(own, key)) || (!forkedKeys.has(key) && isForked(key));
}

const NOTHING_SELECTED: Selected = { keys: new Set(), forkedKeys: new Set() };

/** `priorOwn`: one's own memo as it was found, `own`: as this run takes it. `isFit` leaves out results that no call is offered. */
export function invalidationImpact(
  { keys, forkedKeys, notExecuted = [] }: Invalidation,
  {
    priorOwn,
    isFit = () => true,
    ...results
  }: ResultSources & { readonly priorOwn: Memo; readonly isFit?: (entry: UsableEntry) => boolean },
): InvalidationImpact {
  const isReused = reuseBy(results, { keys: new Set(keys), forkedKeys: new Set(forkedKeys) }, isFit);
  const taken = new Set(keys);
  const isJudged = (key: CallKey): boolean => {
    const waiting = taken.has(key) ? undefined : unjudgedEntry(results.own, key);
    return waiting !== undefined && isFit(waiting);
  };
  const all = predictCalls(priorOwn, results.sources, isReused, isJudged);
  const hadResult = reuseBy(results, NOTHING_SELECTED, isFit);
  const predicted = [...all].filter(hadResult);
  const waiting = [...results.own.unjudged.keys()].filter((key) => all.has(key) && !hadResult(key));
  const unjudged = waiting.filter(isJudged).length;
  const again = predicted.filter((key) => !isReused(key)).length;
  const unaffected = new Set([...keys, ...forkedKeys]).size - again - waiting.filter((key) => taken.has(key)).length;
  const before = predictedBefore(
    all,
    (key) => madeLast(priorOwn, key),
    (key) => priorOwn.entries.get(key)?.fn,
  );
  const behind = notPredicted(notExecuted, before).length;
  return { predicted: predicted.length, again, unaffected, unresolved: all.size - predicted.length, unjudged, notExecuted: behind };
}

/** Keys of inner calls by the key of the call around them. */
function insideCalls(memos: readonly Memo[]): ReadonlyMap<CallKey, readonly CallKey[]> {
  const inside = new Map<CallKey, CallKey[]>();
  for (const { within } of memos) {
    for (const [key, calls] of within) {
      for (const around of calls) {
        const known = inside.get(around);
        if (known === undefined) inside.set(around, [key]);
        else known.push(key);
      }
    }
  }
  return inside;
}
