/** Counts the calls of the run while it records them, for `run.finished`. calls.md 14.1. */
import type { RunTotals } from '../../../journal/facts/run-event.js';
import { attemptsInFlight, emptyLedger, followCall, usualModel, type CallLedger } from '../../../replay/fold/call-counts.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { Follower } from './recorder.js';

export interface TotalsCounter {
  readonly follow: Follower;
  /** The count as it is now, for reports while the run goes on. */
  readonly ledger: CallLedger;
  totals(): RunTotals;
}

export function createTotalsCounter(): TotalsCounter {
  const ledger = emptyLedger();
  return { follow: (event) => void followCall(ledger, event), ledger, totals: () => totalsOf(ledger) };
}

/** An attempt that is still in flight has a cost that nobody will know. */
function totalsOf(ledger: CallLedger): RunTotals {
  const { executed, reused, failed, accepted, denied, notExecuted, unresolved, attempts, retries, unpriced, ...sums } = ledger.total;
  return withoutUndefined<RunTotals>({
    executed,
    reused,
    failed,
    withoutResult: 0,
    accepted,
    denied,
    notExecuted,
    unresolved,
    attempts,
    retries,
    unpriced: unpriced + attemptsInFlight(ledger),
    costUsd: sums.costUsd ?? undefined,
    savedUsd: sums.savedUsd ?? undefined,
    inputTokens: sums.inputTokens ?? undefined,
    outputTokens: sums.outputTokens ?? undefined,
    model: usualModel(ledger) ?? undefined,
  });
}
