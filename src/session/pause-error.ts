/** How a run that was paused says so. */
import { JournalError } from '../../journal/errors.js';
import type { Pause } from '../../journal/event.js';
import { MlldError } from '../errors.js';
import type { PaidCalls } from '../runtime/paid-calls.js';

/** No call could be recorded any more. */
export function pausedError({ stoppedBy }: PaidCalls): MlldError {
  const why = stoppedBy?.message ?? 'the journal is lost';
  const again = 'run it again with --resume; --unrecorded goes on without a record';
  return new MlldError('PAUSED', `The run is paused: no call is made whose result can't be recorded (${why})`, {
    hint: stoppedBy instanceof JournalError && stoppedBy.hint !== undefined ? `${stoppedBy.hint} Then ${again}` : again,
  });
}

export function pauseOf(error: unknown): Pause {
  return { class: 'journal', message: error instanceof Error ? error.message : String(error) };
}
