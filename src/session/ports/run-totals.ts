/**
 * Counts the calls of a run, recorded or not: for its last event, and for the report that its caller gets. calls.md 14.1.
 */
import type { Fact } from '../../../journal/event.js';
import type { RunTotals } from '../../../journal/facts/run-event.js';
import {
  attemptsInFlight,
  emptyLedger,
  followCall,
  unresolvedByClass,
  usualModel,
  type CallCounts,
} from '../../../replay/fold/call-counts.js';
import type { CallCause } from '../../../replay/fold/failure-class.js';
import type { UnrecordedFact } from '../../runtime/recorder.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { Follower } from './recorder.js';

/** The calls of a run as its report has them; the members are those of `journal list --json`. */
export interface RunCalls extends Readonly<Omit<CallCounts, 'callsMs'>> {
  /** Executed, reused, failed, denied and not executed ones together. */
  readonly total: number;
  /** Unresolved calls by the class of their last attempt; those that were not executed have the class `upstream`. */
  readonly unresolvedByClass: { readonly [cause in CallCause]?: number };
  /** The model that most attempts used. */
  readonly model: string | null;
  /** US dollars above the budget; absent where the run kept to it. */
  readonly overBudgetUsd?: number;
}

export interface TotalsCounter {
  readonly follow: Follower;
  /** Counts a fact that no follower sees. */
  readonly count: (fact: Fact | UnrecordedFact) => void;
  totals(): RunTotals;
  /** Undefined for a run without calls. */
  calls(): RunCalls | undefined;
}

export function createTotalsCounter(): TotalsCounter {
  const ledger = emptyLedger();
  const callsNow = (): RunCalls => {
    const { callsMs: _, ...counts } = ledger.total;
    const { executed, reused, failed, denied, notExecuted } = counts;
    const total = executed + reused + failed + denied + notExecuted;
    // An attempt that is still in flight has a cost that nobody will know.
    return {
      total,
      ...counts,
      unpriced: counts.unpriced + attemptsInFlight(ledger),
      unresolvedByClass: unresolvedByClass(ledger),
      model: usualModel(ledger),
    };
  };
  return {
    follow: (event) => void followCall(ledger, event),
    count(fact) {
      switch (fact.type) {
        case 'call.started':
        case 'call.completed':
        case 'call.failed':
        case 'call.reused':
          followCall(ledger, fact);
          break;
        default:
          break;
      }
    },
    totals: () => totalsOf(callsNow()),
    calls() {
      const calls = callsNow();
      return calls.total + calls.attempts === 0 ? undefined : calls;
    },
  };
}

function totalsOf(calls: RunCalls): RunTotals {
  const { total: _, failedByClass: __, unresolvedByClass: ___, costUsd, savedUsd, inputTokens, outputTokens, model, ...numbers } = calls;
  return withoutUndefined<RunTotals>({
    ...numbers,
    withoutResult: 0,
    costUsd: costUsd ?? undefined,
    savedUsd: savedUsd ?? undefined,
    inputTokens: inputTokens ?? undefined,
    outputTokens: outputTokens ?? undefined,
    model: model ?? undefined,
  });
}
