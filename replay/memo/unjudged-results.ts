/**
 * Folds the results that came back from calls and that the guards behind them have not judged: the process was killed, the run was paused,
 * or a call that a guard makes failed. They are paid for, so that the next run has its guards judge them instead of executing the bodies.
 *
 * UNJUDGED-1 a result of the call, or a denial of it, ends the wait; a failure of the guard itself does not
 * UNJUDGED-2 an invalidation of the call takes it away as it takes a result away
 * UNJUDGED-3 it is offered to no fork, and nothing else counts it as a result
 * UNJUDGED-4 it has cost what it cost when it came back
 */
import type { EventOf } from '../../journal/event.js';
import type { CallKey, EventRef } from '../../journal/ids.js';
import type { Place } from '../fold/projection.js';
import { cameLater, storedResult, type StoredResult } from './stored-result.js';

export type UnjudgedResults = Map<CallKey, StoredResult>;

/** `failedUsd` is what the earlier attempts of the call had cost. */
export function receiveResult(
  unjudged: UnjudgedResults,
  event: EventOf<'result.received'>,
  place: Place,
  failedUsd: number | undefined,
): void {
  if ('redacted' in event.result) unjudged.delete(event.key);
  else unjudged.set(event.key, { ...storedResult(event, place, failedUsd), carries: true }); // its event says that it waits
}

/** UNJUDGED-4. In US dollars; undefined for a call that judges none, and where it is not known. */
export function receivedCost(unjudged: UnjudgedResults, { key, received }: EventOf<'call.started'>): number | undefined {
  return received === undefined ? undefined : unjudged.get(key)?.costUsd;
}

/** UNJUDGED-1 */
export function judgedWithoutResult(unjudged: UnjudgedResults, { key, denied }: EventOf<'call.failed'>): void {
  if (denied === true && unjudged.size > 0) unjudged.delete(key);
}

/** UNJUDGED-2 */
export function forgetUnjudged(
  unjudged: UnjudgedResults,
  { keys, borrowed }: Pick<EventOf<'memo.invalidated'>, 'keys' | 'borrowed'>,
  during: readonly EventRef[] | undefined,
): void {
  if (unjudged.size === 0 || borrowed === true) return;
  for (const key of keys) {
    const result = unjudged.get(key);
    if (result !== undefined && !cameLater(result, during)) unjudged.delete(key);
  }
}

/** Returns the keys of these calls whose results were not judged. */
export function unjudgedAmong(unjudged: UnjudgedResults, isSelected: (key: CallKey) => boolean): readonly CallKey[] {
  return unjudged.size === 0 ? NONE : [...unjudged.keys()].filter(isSelected);
}
const NONE: readonly CallKey[] = [];
