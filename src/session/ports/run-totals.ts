/**
 * Counts the calls of a run, recorded or not: for its last event, and for the report that its caller gets. calls.md 14.1.
 */
import { sumUsd } from '../../../journal/facts/add-usd.js';
import type { Fact } from '../../../journal/event.js';
import type { RunTotals } from '../../../journal/facts/run-event.js';
import type { CallCause } from '../../../replay/fold/calls/failure-class.js';
import { addCounts, noCalls } from '../../../replay/fold/calls/call-counts.js';
import {
  unpricedInFlight,
  emptyLedger,
  followCall,
  leaveByRestart,
  unresolvedInResults,
  usualModel,
  type CallLedger,
} from '../../../replay/fold/calls/call-ledger.js';
import { unresolvedByClass } from '../../../replay/fold/calls/unresolved-calls.js';
import { reportTeam, teamCalls, type TeamReport } from '../../../replay/reports/team/team-calls.js';
import type { RunCalls } from '../run-calls.js';
import type { UnrecordedFact } from '../../runtime/recorder.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { Follower } from './recorder.js';

export interface TotalsCounter {
  readonly follow: Follower;
  /**
   * Counts what workers executed for the run, which the ledger has as reused, and results that came too late: both happen in the store of
   * a team alone.
   */
  readonly followTeam: Follower;
  /** Counts a fact that no follower sees. */
  readonly count: (fact: Fact | UnrecordedFact) => void;
  /** The run restarts behind this node of a pipeline: its failed calls are dealt with. */
  readonly restarts: (node: string | undefined) => void;
  totals(): RunTotals;
  /** Undefined for a run without calls. */
  calls(): RunCalls | undefined;
}

/** Counts into `ledger`, beside others who do so: each event must be counted once. */
export function createTotalsCounter(ledger: CallLedger = emptyLedger()): TotalsCounter {
  const team = teamCalls.initial();
  const callsNow = (): RunCalls => {
    const { callsMs: _, ...counts } = ledger.total;
    const { executed, reused, failed, denied, notExecuted } = counts;
    const total = executed + reused + failed + denied + notExecuted;
    const inResults = unresolvedInResults(ledger);
    // An attempt that is still in flight has a cost that nobody will know.
    return {
      total,
      ...counts,
      unpriced: counts.unpriced + unpricedInFlight(ledger),
      unresolvedByClass: unresolvedByClass(ledger),
      model: usualModel(ledger),
      ...(inResults > 0 && { unresolvedInResults: inResults }),
      ...(ledger.unresolvedReused > 0 && { unresolvedInside: ledger.unresolvedReused }),
      ...ofTeam(reportTeam(team)),
    };
  };
  return {
    follow: (event) => void followCall(ledger, event),
    followTeam: (event) => void teamCalls.apply(team, event),
    count(fact) {
      switch (fact.type) {
        case 'call.started':
        case 'call.completed':
        case 'call.failed':
        case 'call.reused':
        case 'call.withdrawn':
          followCall(ledger, fact);
          break;
        default:
          break;
      }
    },
    restarts: (node) => leaveByRestart(ledger, node),
    totals: () => totalsOf(callsNow()),
    calls() {
      const calls = callsNow();
      return calls.total + calls.attempts === 0 ? undefined : calls;
    },
  };
}

function ofTeam({ workers, superseded }: TeamReport): Pick<RunCalls, 'atWorkers' | 'failedAtWorkers' | 'superseded'> {
  const atWorkers = sumOf(workers.map(({ executed, costUsd }) => ({ calls: executed, costUsd })));
  const failedAtWorkers = sumOf(workers.map(({ failed, failedUsd }) => ({ calls: failed, costUsd: failedUsd })));
  return {
    ...(atWorkers.calls > 0 && { atWorkers }),
    ...(failedAtWorkers.calls > 0 && { failedAtWorkers }),
    ...(superseded.calls > 0 && { superseded }),
  };
}

type Paid = NonNullable<RunCalls['atWorkers']>;

function sumOf(parts: readonly Paid[]): Paid {
  return parts.reduce((sum, { calls, costUsd }) => ({ calls: sum.calls + calls, costUsd: sumUsd(sum.costUsd, costUsd ?? undefined) }), {
    calls: 0,
    costUsd: null,
  });
}

/** Adds the calls of runs that count as one. The model is that of the run with the most attempts, and the budget is one for all. */
export function addRunCalls(before: RunCalls | undefined, last: RunCalls | undefined): RunCalls | undefined {
  if (!before || !last) return last ?? before;
  const sum = { ...noCalls(), failedByClass: { ...before.failedByClass } };
  addCounts(sum, { ...before, callsMs: 0, failedByClass: {} });
  addCounts(sum, { ...last, callsMs: 0 });
  const { callsMs: _, ...counts } = sum;
  const unresolvedByClass = { ...before.unresolvedByClass };
  for (const [cause, count] of Object.entries(last.unresolvedByClass) as [CallCause, number][]) {
    unresolvedByClass[cause] = (unresolvedByClass[cause] ?? 0) + count;
  }
  const inResults = (before.unresolvedInResults ?? 0) + (last.unresolvedInResults ?? 0);
  const unresolvedInside = (before.unresolvedInside ?? 0) + (last.unresolvedInside ?? 0);
  const model = (last.attempts > before.attempts ? last : before).model ?? last.model ?? before.model;
  return {
    ...last,
    ...counts,
    ...paidOf('atWorkers', before, last),
    ...paidOf('failedAtWorkers', before, last),
    ...paidOf('superseded', before, last),
    total: before.total + last.total,
    unresolvedByClass,
    ...(inResults > 0 && { unresolvedInResults: inResults }),
    ...(unresolvedInside > 0 && { unresolvedInside }),
    model,
  };
}

function paidOf(member: 'atWorkers' | 'failedAtWorkers' | 'superseded', ...runs: readonly RunCalls[]): Partial<RunCalls> {
  const paid = runs.flatMap(({ [member]: one }) => one ?? []);
  return paid.length === 0 ? {} : { [member]: sumOf(paid) };
}

function totalsOf(calls: RunCalls): RunTotals {
  const {
    total: _,
    failedByClass: __,
    unresolvedByClass: ___,
    unresolvedInResults: ____,
    unresolvedInside,
    costUsd,
    savedUsd,
    inputTokens,
    outputTokens,
    model,
    atWorkers,
    failedAtWorkers: _failedAtWorkers,
    superseded: _late,
    ...numbers
  } = calls;
  return withoutUndefined<RunTotals>({
    ...numbers,
    withoutResult: 0,
    unresolvedBefore: unresolvedInside,
    costUsd: costUsd ?? undefined,
    savedUsd: savedUsd ?? undefined,
    atWorkers: atWorkers?.calls,
    atWorkersUsd: atWorkers?.costUsd ?? undefined,
    inputTokens: inputTokens ?? undefined,
    outputTokens: outputTokens ?? undefined,
    model: model ?? undefined,
  });
}
