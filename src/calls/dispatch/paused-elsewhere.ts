/** Pauses a run because another one that it waits for was paused: calls of both would meet the same wall. calls.md 14.3. */
import type { OpPath } from '../../../journal/ids.js';
import type { Dispatcher } from './dispatcher.js';
import type { Stop } from './stop.js';

type Stoppable = Pick<Dispatcher, 'failedElsewhere' | 'mayTryAgain' | 'refuse' | 'stop'>;

/**
 * Stops the lane that was stopped there, or all where no single one was, and waits for the pause of this run: what else is in flight, and
 * calls in other lanes, still end. Rejects with INTERRUPTED.
 */
export function pausedElsewhere(
  dispatcher: Stoppable,
  stop: Stop,
  { op, fn }: { readonly op: OpPath; readonly fn: string },
): Promise<never> {
  const { class: stopClass, lane = fn, message, resetsAtMs } = stop;
  if (stop.lane !== undefined && (stopClass === 'quota' || stopClass === 'auth')) {
    const reset = resetsAtMs === undefined ? {} : { resetsAtMs };
    dispatcher.failedElsewhere({ op, lane }, { class: stopClass, evidence: 'none', message, ...reset });
  }
  // With `--wait-quota` a lane may wait by itself, but the other run has not.
  if (dispatcher.mayTryAgain(lane)) dispatcher.stop(stop, op);
  return dispatcher.refuse({ op, fn, lane, isRetry: false });
}
