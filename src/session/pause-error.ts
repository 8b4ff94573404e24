/** Describes the pause of a run: as the error that its user sees, and as the fact that its journal holds. */
import { JournalError } from '../../journal/errors.js';
import type { Pause } from '../../journal/run-event.js';
import { MlldError } from '../errors.js';
import type { PaidCalls } from '../runtime/calls/paid-calls.js';

export function pausedError({ stoppedBy }: PaidCalls): MlldError {
  const why = stoppedBy?.message ?? 'the journal is lost';
  const again = 'run it again with --resume, or with --unrecorded to continue without a record';
  return new MlldError('PAUSED', `The run is paused: no call is made whose result can't be recorded (${why})`, {
    hint: stoppedBy instanceof JournalError && stoppedBy.hint !== undefined ? `${stoppedBy.hint} Then ${again}` : again,
  });
}

export function pauseOf(error: unknown): Pause {
  return { class: 'journal', message: error instanceof Error ? error.message : String(error) };
}
