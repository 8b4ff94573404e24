/** Says in the report of a run what its calls came to, and what is left to do. calls.md 14. */
import type { RunStatus } from '../../journal/facts/run-event.js';
import type { Dispatcher } from '../calls/dispatch/dispatcher.js';
import { callFailureOf } from '../runtime/calls/call-failure.js';
import { withoutUndefined } from '../values/without-undefined.js';
import { pauseOf } from './pause-error.js';
import type { OpenedJournal } from './ports/opened-journal.js';
import type { RunCalls, RunOutcome } from './run-calls.js';

interface Ended {
  readonly status: RunStatus;
  readonly error: unknown;
  readonly journal: Pick<OpenedJournal, 'calls' | 'ref'>;
  readonly dispatcher: Pick<Dispatcher, 'pausedBy' | 'overBudget'> | undefined;
  /** The names of the checkpoints that the run reached. */
  readonly checkpoints: ReadonlySet<string>;
}

export function outcomeOf({ status, error, journal, dispatcher, checkpoints }: Ended): RunOutcome {
  const counted = journal.calls();
  const { usd = 0, tokens = 0 } = dispatcher?.overBudget ?? {};
  const over = { ...(usd > ROUNDING_USD && { overBudgetUsd: usd }), ...(tokens > 0 && { overBudgetTokens: tokens }) };
  return withoutUndefined<RunOutcome>({
    calls: counted && { ...counted, ...over },
    pause: status === 'paused' && dispatcher ? pauseOf(error, dispatcher) : undefined,
    resume: journal.ref && leftToDo({ status, error, unresolved: unresolvedIn(counted), checkpoints }),
  });
}

function unresolvedIn(calls: RunCalls | undefined): number {
  return calls ? calls.unresolved + (calls.unresolvedInside ?? 0) : 0;
}

function leftToDo({
  status,
  error,
  unresolved,
  checkpoints,
}: Pick<Ended, 'status' | 'error' | 'checkpoints'> & { readonly unresolved: number }): RunOutcome['resume'] {
  const isDone = status === 'completed';
  if (isDone && unresolved === 0) return undefined;
  // An error of a call leaves what comes after it, which has not begun and is executed by either.
  const isOfCalls = unresolved > 0 && (isDone || (status === 'failed' && callFailureOf(error) !== undefined));
  return isOfCalls && !checkpoints.has(FAILED) ? FAILED : ''; // a checkpoint of that name makes the bare word ambiguous
}

const FAILED = 'failed';
/** Sums of fractions are off by less. */
const ROUNDING_USD = 1e-6;
