/** Sums up many runs: hit rate, cost, time and failures, by function and by day. */
import type { JournalEvent } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
import { startOf, type CallKey, type OpPath, type RunId, type RunRef } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { addCounts, noCalls, type CallCounts, type CallFigures } from '../../fold/calls/call-counts.js';
import { emptyLedger, endRun, followCall, type CallLedger } from '../../fold/calls/call-ledger.js';
import { salvagedAttempts, type SalvagedAttempts } from '../../fold/calls/salvaged-attempts.js';
import { foldRun } from '../../fold/fold-run.js';
import type { Projection } from '../../fold/projection.js';
import { isOfSimulatedCall, noSimulatedCalls, type SimulatedCalls } from '../../fold/simulated-calls.js';
import { servesAnotherRun } from '../../fold/record-of-upkeep.js';
import { quantile, sorted } from '../../fold/quantile.js';
import { countedStatus, reportedStatus, type CountedStatus } from '../../fold/reported-status.js';
import { headOf, servedBy } from '../../upkeep/runs-as-one.js';
import { recordedMs } from '../../fold/run-duration.js';

interface Samples {
  /** Durations of the calls that were executed. */
  readonly durationMs: number[];
  /** The cost of each result, all attempts of its call included, where it is known. */
  readonly resultUsd: number[];
}

export interface RunCounts {
  status: RunStatus | undefined;
  firstTs: string | undefined;
  lastTs: string | undefined;
  readonly ledger: CallLedger;
  /** By the name of the function, without simulated calls. */
  readonly samples: Map<string, Samples>;
  readonly simulated: SimulatedCalls;
  /** Calls that fail as they did at a worker. */
  readonly atWorkers: Set<OpPath>;
  /** Those that are unresolved. */
  readonly failedAtWorkers: Set<CallKey>;
  readonly salvaged: SalvagedAttempts;
  serves: RunId | undefined;
}

/** Folds the events of one run. */
export const runCounts: Projection<RunCounts> = {
  initial: () => ({
    status: undefined,
    firstTs: undefined,
    lastTs: undefined,
    ledger: emptyLedger(),
    samples: new Map(),
    simulated: noSimulatedCalls(),
    atWorkers: new Set(),
    failedAtWorkers: new Set(),
    salvaged: salvagedAttempts.initial(),
    serves: undefined,
  }),
  apply(state, event) {
    state.firstTs ??= event.ts;
    state.lastTs = event.ts;
    state.serves ??= servedBy(event);
    if (event.type === 'run.finished') state.status = event.status;
    salvagedAttempts.apply(state.salvaged, event);
    if (isCountedAtWorker(state, event)) return state;
    if (event.type === 'call.completed' || event.type === 'call.reused') state.failedAtWorkers.delete(event.key);
    const call = followCall(state.ledger, event);
    if (isOfSimulatedCall(state.simulated, event) || call?.outcome !== 'executed') return state;
    const { durationMs, resultUsd } = samplesOf(state, call.fn);
    if (call.durationMs !== undefined) durationMs.push(call.durationMs);
    // The cost of one that did nothing but make calls is theirs, and not 0.
    if (call.totalUsd !== undefined && !(call.onlyCalls && call.totalUsd === 0)) resultUsd.push(call.totalUsd);
    return state;
  },
};

/** The run of the worker has the same call as executed or failed, with its attempts and cost. */
function isCountedAtWorker({ atWorkers, failedAtWorkers }: RunCounts, event: JournalEvent): boolean {
  switch (event.type) {
    case 'call.reused':
      if (event.worker !== undefined) failedAtWorkers.delete(event.key);
      return event.worker !== undefined;
    case 'call.started':
      if (event.begun === undefined || event.worker === undefined) return false;
      atWorkers.add(event.op);
      return true;
    case 'call.failed':
      if (!atWorkers.delete(event.op)) return false;
      if (event.accepted !== true) failedAtWorkers.add(event.key);
      return true;
    default:
      return false;
  }
}

/** Durations in milliseconds, costs in US dollars; null where there was nothing to measure. */
export interface Figures extends CallFigures {
  readonly runs: number;
  readonly completed: number;
  /** The reused part of all calls that have a result. */
  readonly hitRate: number | null;
  readonly medianMs: number | null;
  readonly slowestMs: number | null;
}

export interface FunctionFigures extends CallFigures {
  readonly fn: string;
  /** Failed calls by the class of their last attempt. */
  readonly failedByClass: CallCounts['failedByClass'];
  readonly hitRate: number | null;
  /** The cost of one result, all attempts of its call included. */
  readonly medianResultUsd: number | null;
  readonly p95ResultUsd: number | null;
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

export interface MeasuredRun {
  /** The calls of another run, executed by a worker or salvaged: its attempts count, and it is no run of its own. */
  readonly isServing: boolean;
  /** The run that a worker's run served, or some of whose calls ended in a salvage run. */
  readonly serves: RunId | undefined;
  readonly ref: RunRef;
  readonly day: string;
  readonly durationMs: number;
  readonly status: CountedStatus;
  readonly counts: RunCounts;
}

export async function statsOf(store: JournalStore, files: readonly RunFile[], onDefect: (defect: Defect) => void): Promise<RunStats> {
  return combine(await measureRuns(store, files, onDefect));
}

/** Folds each run, in the order given. Runs of an unknown version are left out. */
export async function measureRuns(
  store: JournalStore,
  files: readonly RunFile[],
  onDefect: (defect: Defect) => void,
): Promise<readonly MeasuredRun[]> {
  const folded: { readonly file: RunFile; readonly counts: RunCounts }[] = [];
  for (const file of files) {
    const counts = await foldRun(store, file.ref, runCounts, { onDefect });
    // The scan has reported one of an unknown version as a defect: its outcome is unknown.
    if (!file.isOfUnknownVersion) folded.push({ file, counts });
  }
  const salvaged = opsBySealedRun(folded.map(({ counts }) => counts.salvaged));
  const serves = new Map(
    folded.flatMap(({ file, counts }) => (counts.serves === undefined ? [] : [[file.ref.run, counts.serves] as const])),
  );
  return folded.map(({ file, counts }) => {
    const head = headOf(serves, file.ref.run);
    return measured(file, counts, { salvaged: salvaged.get(file.ref.run), serves: head === file.ref.run ? undefined : head });
  });
}

/** A run that was sealed has as many salvage runs as processes or commands that had ends of its calls. */
function opsBySealedRun(all: readonly SalvagedAttempts[]): ReadonlyMap<RunId, ReadonlySet<OpPath>> {
  const salvaged = new Map<RunId, Set<OpPath>>();
  for (const { of, ops } of all) {
    if (of !== undefined) salvaged.set(of, new Set([...(salvaged.get(of) ?? []), ...ops]));
  }
  return salvaged;
}

function measured(
  file: RunFile,
  counts: RunCounts,
  { salvaged, serves }: { readonly salvaged: ReadonlySet<OpPath> | undefined; readonly serves: RunId | undefined },
): MeasuredRun {
  const { ref, liveness } = file;
  const status = reportedStatus(counts.status, liveness);
  if (status !== 'running') endRun(counts.ledger, salvaged);
  const { unresolvedBefore } = counts.ledger;
  return {
    isServing: servesAnotherRun(file),
    serves,
    ref,
    day: new Date(startOf(ref.run)).toISOString().slice(0, 10),
    durationMs: recordedMs(counts),
    status: countedStatus(status, { unresolved: counts.ledger.total.unresolved + counts.failedAtWorkers.size, unresolvedBefore }),
    counts,
  };
}

export function combine(measured: readonly MeasuredRun[]): RunStats {
  const statuses: { [status: string]: number } = {};
  for (const { status, isServing } of measured) if (!isServing) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    total: figuresOf(measured),
    statuses,
    functions: functionFigures(measured),
    days: [...groupedByDay(measured)].map(([day, runs]) => ({ day, ...figuresOf(runs) })),
  };
}

function groupedByDay(measured: readonly MeasuredRun[]): ReadonlyMap<string, readonly MeasuredRun[]> {
  const days = new Map<string, MeasuredRun[]>();
  for (const run of measured) {
    const runs = days.get(run.day);
    if (runs === undefined) days.set(run.day, [run]);
    else runs.push(run);
  }
  return days;
}

function figuresOf(runs: readonly MeasuredRun[]): Figures {
  const calls = merged(runs.map(({ counts }) => counts.ledger.total));
  const own = runs.filter(({ isServing }) => !isServing);
  const completed = own.filter(({ status }) => status === 'completed');
  const took = sorted(completed.map(({ durationMs }) => durationMs));
  return {
    runs: own.length,
    completed: completed.length,
    ...countedFigures(calls),
    medianMs: quantile(took, 0.5),
    slowestMs: took.at(-1) ?? null,
  };
}

function functionFigures(runs: readonly MeasuredRun[]): readonly FunctionFigures[] {
  const names = new Set(runs.flatMap(({ counts }) => [...counts.ledger.functions.keys()]));
  return [...names]
    .map((fn) => {
      const samples = runs.flatMap(({ counts }) => counts.samples.get(fn) ?? []);
      const elapsed = sorted(samples.flatMap(({ durationMs }) => durationMs));
      const costs = sorted(samples.flatMap(({ resultUsd }) => resultUsd));
      const calls = merged(runs.flatMap(({ counts }) => counts.ledger.functions.get(fn) ?? []));
      return {
        fn,
        ...countedFigures(calls),
        failedByClass: calls.failedByClass,
        medianResultUsd: quantile(costs, 0.5),
        p95ResultUsd: quantile(costs, 0.95),
        medianMs: quantile(elapsed, 0.5),
        p90Ms: quantile(elapsed, 0.9),
      };
    })
    .sort((one, other) => other.failed - one.failed || other.executed + other.reused - one.executed - one.reused);
}

export function merged(all: readonly CallCounts[]): CallCounts {
  const sum = noCalls();
  for (const counts of all) addCounts(sum, counts);
  return sum;
}

export function countedFigures({ callsMs: _callsMs, failedByClass: _failedByClass, ...counts }: CallCounts) {
  return { ...counts, hitRate: hitRateOf(counts.executed, counts.reused) };
}

function hitRateOf(executed: number, reused: number): number | null {
  return executed + reused === 0 ? null : reused / (executed + reused);
}

function samplesOf({ samples }: RunCounts, fn: string): Samples {
  let known = samples.get(fn);
  if (known === undefined) samples.set(fn, (known = { durationMs: [], resultUsd: [] }));
  return known;
}
