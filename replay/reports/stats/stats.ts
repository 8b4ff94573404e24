/** Sums up many runs: hit rate, cost, time and failures, by function and by day. */
import type { RunStatus } from '../../../journal/run-event.js';
import { startOf, type OpPath } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { addCounts, countCall, endedCall, noCalls, type CallCounts } from '../../fold/call-counts.js';
import { foldRun } from '../../fold/fold-run.js';
import type { Projection } from '../../fold/projection.js';
import { reportedStatus, type ReportedStatus } from '../../fold/reported-status.js';

interface FunctionCounts {
  readonly calls: CallCounts;
  /** Durations of the calls that were executed. */
  readonly durationMs: number[];
}

export interface RunCounts {
  status: RunStatus | undefined;
  lastTs: string | undefined;
  readonly functions: Map<string, FunctionCounts>;
  /** Functions of the calls in flight. */
  readonly inFlight: Map<OpPath, string>;
}

/** Folds the events of one run. */
export const runCounts: Projection<RunCounts> = {
  initial: () => ({ status: undefined, lastTs: undefined, functions: new Map(), inFlight: new Map() }),
  apply(state, event) {
    state.lastTs = event.ts;
    switch (event.type) {
      case 'run.finished':
        state.status = event.status;
        break;
      case 'call.started':
        state.inFlight.set(event.op, event.fn);
        break;
      case 'call.completed':
      case 'call.failed':
      case 'call.reused': {
        const call = endedCall(event);
        // A damaged `call.started` loses the name: its call counts for no function in particular.
        const { calls, durationMs } = countsOf(state, event.type === 'call.reused' ? event.fn : (state.inFlight.get(event.op) ?? ''));
        state.inFlight.delete(event.op);
        countCall(calls, call);
        if (call.outcome === 'executed' && call.durationMs !== undefined) durationMs.push(call.durationMs);
        break;
      }
      default:
        break;
    }
    return state;
  },
};

/** Durations in milliseconds, costs in US dollars; null where there was nothing to measure. */
export interface Figures {
  readonly runs: number;
  readonly completed: number;
  readonly executed: number;
  readonly reused: number;
  readonly failed: number;
  /** The reused part of all calls that have a result. */
  readonly hitRate: number | null;
  readonly costUsd: number | null;
  readonly medianMs: number | null;
  readonly slowestMs: number | null;
}

export interface FunctionFigures {
  readonly fn: string;
  readonly executed: number;
  readonly reused: number;
  readonly failed: number;
  readonly hitRate: number | null;
  readonly costUsd: number | null;
  readonly medianMs: number | null;
  /** Nine of ten calls were faster. */
  readonly p90Ms: number | null;
}

export interface RunStats {
  readonly total: Figures;
  readonly statuses: { readonly [status: string]: number };
  /** Those with the most failures first, then those with the most calls. */
  readonly functions: readonly FunctionFigures[];
  /** By the day on which runs began, UTC; oldest first. */
  readonly days: readonly (Figures & { readonly day: string })[];
}

interface Measured {
  readonly day: string;
  readonly durationMs: number;
  readonly status: ReportedStatus;
  readonly counts: RunCounts;
}

export async function statsOf(store: JournalStore, files: readonly RunFile[], onDefect: (defect: Defect) => void): Promise<RunStats> {
  const measured: Measured[] = [];
  for (const { ref, liveness, isOfUnknownVersion } of files) {
    const counts = await foldRun(store, ref, runCounts, { onDefect });
    // The scan has reported it as a defect: its outcome is unknown.
    if (isOfUnknownVersion) continue;
    const startedMs = startOf(ref.run);
    measured.push({
      day: new Date(startedMs).toISOString().slice(0, 10),
      durationMs: counts.lastTs === undefined ? 0 : Date.parse(counts.lastTs) - startedMs,
      status: reportedStatus(counts.status, liveness),
      counts,
    });
  }
  return combine(measured);
}

function combine(measured: readonly Measured[]): RunStats {
  const statuses: { [status: string]: number } = {};
  for (const { status } of measured) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    total: figuresOf(measured),
    statuses,
    functions: functionFigures(measured),
    days: [...groupedByDay(measured)].map(([day, runs]) => ({ day, ...figuresOf(runs) })),
  };
}

function groupedByDay(measured: readonly Measured[]): ReadonlyMap<string, readonly Measured[]> {
  const days = new Map<string, Measured[]>();
  for (const run of measured) {
    const runs = days.get(run.day);
    if (runs === undefined) days.set(run.day, [run]);
    else runs.push(run);
  }
  return days;
}

function figuresOf(runs: readonly Measured[]): Figures {
  const { executed, reused, failed, costUsd } = merged(runs.flatMap(({ counts }) => [...counts.functions.values()]));
  const took = sorted(runs.filter(({ status }) => status === 'completed').map(({ durationMs }) => durationMs));
  return {
    runs: runs.length,
    completed: runs.filter(({ status }) => status === 'completed').length,
    executed,
    reused,
    failed,
    hitRate: hitRateOf(executed, reused),
    costUsd,
    medianMs: quantile(took, 0.5),
    slowestMs: took.at(-1) ?? null,
  };
}

function functionFigures(runs: readonly Measured[]): readonly FunctionFigures[] {
  const byName = new Map<string, FunctionCounts[]>();
  for (const { counts } of runs) {
    for (const [fn, each] of counts.functions) {
      const all = byName.get(fn);
      if (all === undefined) byName.set(fn, [each]);
      else all.push(each);
    }
  }
  return [...byName]
    .map(([fn, all]) => {
      const elapsed = sorted(all.flatMap(({ durationMs }) => durationMs));
      const { executed, reused, failed, costUsd } = merged(all);
      return {
        fn,
        executed,
        reused,
        failed,
        hitRate: hitRateOf(executed, reused),
        costUsd,
        medianMs: quantile(elapsed, 0.5),
        p90Ms: quantile(elapsed, 0.9),
      };
    })
    .sort((one, other) => other.failed - one.failed || other.executed + other.reused - one.executed - one.reused);
}

function merged(all: readonly FunctionCounts[]): CallCounts {
  const sum = noCalls();
  for (const { calls } of all) addCounts(sum, calls);
  return sum;
}

function hitRateOf(executed: number, reused: number): number | null {
  return executed + reused === 0 ? null : reused / (executed + reused);
}

function sorted(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((one, other) => one - other);
}

/** The smallest that at least this part of the numbers does not exceed. */
function quantile(ascending: readonly number[], part: number): number | null {
  return ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? null;
}

function countsOf(state: RunCounts, fn: string): FunctionCounts {
  let counts = state.functions.get(fn);
  if (counts === undefined) state.functions.set(fn, (counts = { calls: noCalls(), durationMs: [] }));
  return counts;
}
