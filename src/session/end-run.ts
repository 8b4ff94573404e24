/**
 * Ends a run of any front-end: records its last event, says what is to be said of its journal, and makes its report. calls.md 14.
 *
 * END-RUN-1  `run.finished` is the last event of every run that ends in order; nothing is recorded behind it.
 */
import type { FactOf } from '../../journal/event.js';
import type { RunStatus } from '../../journal/facts/run-event.js';
import { placeOf } from '../errors.js';
import { endedBySignal } from '../calls/dispatch/stop.js';
import type { RunState } from '../runtime/frame.js';
import { withoutUndefined } from '../values/without-undefined.js';
import { pausedError, pauseOf } from './pause-error.js';
import { concealError } from './ports/conceal.js';
import type { OpenedJournal } from './ports/opened-journal.js';
import { timedOut } from './run-lifecycle.js';
import { outcomeOf } from './run-outcome.js';
import type { RunOptions, RunReport } from './script/run-options.js';
import type { RunError } from './user-error.js';

interface EndedRun {
  readonly options: Pick<RunOptions, 'io' | 'timeoutMs'>;
  readonly run: RunState;
  readonly journal: OpenedJournal;
  readonly status: RunStatus;
  /** The error that ended the run; undefined when it completed. */
  readonly error: unknown;
  /** Members that a pipeline adds to the last event. */
  readonly more?: Partial<FactOf<'run.finished'>>;
}

/** The dispatcher of the run's calls must have ended, unless another run continues with it. */
export async function endRun({ options, run, journal, status, error: thrown, more }: EndedRun): Promise<RunReport> {
  const { calls, secrets, unrecordedResults } = run;
  const error = errorOf(status, thrown, run, options);
  run.writeWarnings();
  const totals = journal.totals();
  await journal.finish({ type: 'run.finished', status, ...reasonOf(status, error, run), totals, ...more }); // END-RUN-1
  concealError(error, secrets);
  for (const notice of journal.notices()) options.io.stderr(`${notice}\n`);
  return withoutUndefined<RunReport>({
    status,
    journal: journal.ref,
    ...outcomeOf({ status, error, journal, dispatcher: calls?.dispatcher, checkpoints: run.checkpoints }),
    unrecordedResults: journal.unrecorded === 'not-requested' && unrecordedResults > 0 ? unrecordedResults : undefined,
    error,
  });
}

function errorOf(status: RunStatus, thrown: unknown, { calls }: RunState, { timeoutMs }: EndedRun['options']): RunError | undefined {
  if (status === 'timed-out') return timedOut(timeoutMs);
  if (status === 'paused' && calls) return pausedError(calls.dispatcher);
  const error = status === 'interrupted' ? endedBySignal(thrown) : thrown;
  return error as RunError | undefined; // broken invariants were thrown before
}

function reasonOf(
  status: RunStatus,
  error: RunError | undefined,
  { calls, secrets }: RunState,
): Pick<FactOf<'run.finished'>, 'error' | 'pause'> {
  if (error === undefined) return {};
  if (status === 'paused' && calls) return { pause: pauseOf(error, calls.dispatcher, secrets) };
  const { code, location } = error;
  const message = secrets.messageOf(error);
  return { error: location ? { code, message, location: placeOf(location) } : { code, message } };
}
