/**
 * Folds the results that came back from calls and that the guards behind them have not judged: the process was killed, the run was paused,
 * or a call that a guard makes failed. They are paid for, so that the next run has its guards judge them instead of executing the bodies.
 *
 * UNJUDGED-1 a result of the call ends the wait, and so does a denial by the guards that judge it; not a denial before them, nor a failure
 * UNJUDGED-2 an invalidation of the call takes it away as it takes a result away
 * UNJUDGED-3 it is offered to no fork, and nothing else counts it as a result
 * UNJUDGED-4 its definition is that of the call that received it, whatever results of the call there were before
 */
import type { EventOf } from '../../journal/event.js';
import type { CallKey, EventRef, Fingerprint, OpPath, RunId } from '../../journal/ids.js';
import type { Place } from '../fold/projection.js';
import { cameLater, storedResult, type StoredResult } from './stored-result.js';

export interface UnjudgedCall {
  readonly result: StoredResult;
  readonly fingerprint: Fingerprint | undefined;
  /** The latest call whose guards judge it. */
  readonly by: { readonly run: RunId; readonly op: OpPath };
  /** The calls that the guards have made to judge it. */
  readonly asked: readonly CallKey[];
}

export type UnjudgedResults = Map<CallKey, UnjudgedCall>;

/** The call that received it. Its earlier attempts had cost this, in US dollars. */
interface Receiver {
  readonly failedUsd?: number | undefined;
  readonly entry: { readonly fingerprint: Fingerprint | undefined };
}

export function receiveResult(unjudged: UnjudgedResults, event: EventOf<'result.received'>, place: Place, receiver?: Receiver): void {
  if ('redacted' in event.result) {
    unjudged.delete(event.key);
    return;
  }
  const result = { ...storedResult(event, place, receiver?.failedUsd), carries: true }; // its event says that it waits
  unjudged.set(event.key, { result, fingerprint: receiver?.entry.fingerprint, by: { run: place.ref.run, op: event.op }, asked: [] });
}

/** Notes which call has a result judged. */
export function beginJudging(unjudged: UnjudgedResults, { key, op, received }: EventOf<'call.started'>, { ref: { run } }: Place): void {
  const waiting = received && unjudged.get(key);
  if (waiting) unjudged.set(key, { ...waiting, by: { run, op } });
}

/** Notes a call inside the one at `path`: where the result of that one waits, its body has ended, and its guards made the call. */
export function noteAsked(
  unjudged: UnjudgedResults,
  asked: CallKey,
  around: { readonly key: CallKey; readonly path: OpPath },
  run: RunId,
): void {
  const waiting = unjudged.size === 0 ? undefined : unjudged.get(around.key);
  if (waiting === undefined || waiting.by.run !== run || waiting.by.op !== around.path || waiting.asked.includes(asked)) return;
  unjudged.set(around.key, { ...waiting, asked: [...waiting.asked, asked] });
}

/** UNJUDGED-1 */
export function denyUnjudged(unjudged: UnjudgedResults, { key, op, denied }: EventOf<'call.failed'>, { ref: { run } }: Place): void {
  const by = denied === true && unjudged.size > 0 ? unjudged.get(key)?.by : undefined;
  if (by?.run === run && by.op === op) unjudged.delete(key);
}

/** UNJUDGED-2 */
export function forgetUnjudged(
  unjudged: UnjudgedResults,
  { keys, borrowed }: Pick<EventOf<'memo.invalidated'>, 'keys' | 'borrowed'>,
  during: readonly EventRef[] | undefined,
): void {
  if (unjudged.size === 0 || borrowed === true) return;
  for (const key of keys) {
    const waiting = unjudged.get(key);
    if (waiting !== undefined && !cameLater(waiting.result, during)) unjudged.delete(key);
  }
}

/** Returns the keys of these calls whose results were not judged. */
export function unjudgedAmong(unjudged: UnjudgedResults, isSelected: (key: CallKey) => boolean): readonly CallKey[] {
  return unjudged.size === 0 ? NONE : [...unjudged.keys()].filter(isSelected);
}
const NONE: readonly CallKey[] = [];
