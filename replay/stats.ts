/** What many runs came to: how often an answer was there, what it cost and took, what failed, and how that changes from day to day. */
import { startOf, type OpPath } from '../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../journal/store.js';
import { foldRun } from './load.js';
import type { Projection } from './projection.js';
import type { ReportedStatus } from './summary.js';

export interface FunctionCounts {
  executed: number;
  served: number;
  /** Denied and unusable ones included. */
  failed: number;
  costUsd: number | undefined;
  readonly elapsedMs: number[];
}

export interface RunCounts {
  status: ReportedStatus | undefined;
  lastTs: string | undefined;
  readonly functions: Map<string, FunctionCounts>;
  /** Functions of the calls in flight. */
  readonly open: Map<OpPath, string>;
}

/** Of one run. */
export const runCounts: Projection<RunCounts> = {
  initial: () => ({ status: undefined, lastTs: undefined, functions: new Map(), open: new Map() }),
  apply(state, event) {
    state.lastTs = event.ts;
    switch (event.type) {
      case 'run.finished':
        state.status = event.status;
        break;
      case 'call.started':
        state.open.set(event.op, event.fn);
        break;
      case 'call.reused':
        countsOf(state, event.fn).served += 1;
        break;
      case 'call.completed': {
        const counts = ended(state, event.op);
        counts[event.unusable === undefined ? 'executed' : 'failed'] += 1;
        counts.elapsedMs.push(event.elapsedMs);
        const { costUsd } = event.usage ?? {};
        if (costUsd !== undefined) counts.costUsd = (counts.costUsd ?? 0) + costUsd;
        break;
      }
      case 'call.failed':
        ended(state, event.op).failed += 1;
        break;
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
  readonly served: number;
  readonly failed: number;
  /** Of all calls that came to an answer, the part that was served. */
  readonly hitRate: number | null;
  readonly costUsd: number | null;
  readonly medianMs: number | null;
  readonly slowestMs: number | null;
}

export interface FunctionFigures {
  readonly fn: string;
  readonly executed: number;
  readonly served: number;
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
  readonly elapsedMs: number;
  readonly status: ReportedStatus;
  readonly counts: RunCounts;
}

export async function statsOf(store: JournalStore, files: readonly RunFile[], onDefect: (defect: Defect) => void): Promise<RunStats> {
  const measured: Measured[] = [];
  for (const { ref, liveness, isOfUnknownVersion } of files) {
    const counts = await foldRun(store, ref, runCounts, { onDefect });
    // It was told of as a defect: nobody knows what it came to.
    if (isOfUnknownVersion) continue;
    const startedMs = startOf(ref.run);
    measured.push({
      day: new Date(startedMs).toISOString().slice(0, 10),
      elapsedMs: counts.lastTs === undefined ? 0 : Date.parse(counts.lastTs) - startedMs,
      status: counts.status ?? (liveness === 'running' ? 'running' : 'crashed'),
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
  const sum = merged(runs.flatMap(({ counts }) => [...counts.functions.values()]));
  const took = sorted(runs.filter(({ status }) => status === 'completed').map(({ elapsedMs }) => elapsedMs));
  return {
    runs: runs.length,
    completed: runs.filter(({ status }) => status === 'completed').length,
    executed: sum.executed,
    served: sum.served,
    failed: sum.failed,
    hitRate: hitRateOf(sum),
    costUsd: sum.costUsd ?? null,
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
      const sum = merged(all);
      const elapsed = sorted(all.flatMap(({ elapsedMs }) => elapsedMs));
      const { executed, served, failed, costUsd = null } = sum;
      return {
        fn,
        executed,
        served,
        failed,
        hitRate: hitRateOf(sum),
        costUsd,
        medianMs: quantile(elapsed, 0.5),
        p90Ms: quantile(elapsed, 0.9),
      };
    })
    .sort((one, other) => other.failed - one.failed || other.executed + other.served - one.executed - one.served);
}

function merged(all: readonly FunctionCounts[]): Omit<FunctionCounts, 'elapsedMs'> {
  const sum: Omit<FunctionCounts, 'elapsedMs'> = { executed: 0, served: 0, failed: 0, costUsd: undefined };
  for (const { executed, served, failed, costUsd } of all) {
    sum.executed += executed;
    sum.served += served;
    sum.failed += failed;
    if (costUsd !== undefined) sum.costUsd = (sum.costUsd ?? 0) + costUsd;
  }
  return sum;
}

function hitRateOf({ executed, served }: Pick<FunctionCounts, 'executed' | 'served'>): number | null {
  return executed + served === 0 ? null : served / (executed + served);
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
  if (counts === undefined) state.functions.set(fn, (counts = { executed: 0, served: 0, failed: 0, costUsd: undefined, elapsedMs: [] }));
  return counts;
}

/** A damaged `call.started` loses the name: its call counts for no function in particular. */
function ended(state: RunCounts, op: OpPath): FunctionCounts {
  const fn = state.open.get(op) ?? '';
  state.open.delete(op);
  return countsOf(state, fn);
}
