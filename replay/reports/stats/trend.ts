/** Shows how the runs of one workflow developed: the figures of each run, in all and by function, beside those of all together. */
import { startOf, type Workflow } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { quantile, sorted } from '../../fold/quantile.js';
import type { CountedStatus } from '../../fold/reported-status.js';
import { combine, countedFigures, measureRuns, merged, type MeasuredRun, type RunStats } from './stats.js';

/** Durations in milliseconds, costs in US dollars; null where there was nothing to measure. */
export interface PointFigures {
  readonly executed: number;
  readonly reused: number;
  readonly failed: number;
  readonly unresolved: number;
  readonly retries: number;
  readonly hitRate: number | null;
  readonly costUsd: number | null;
  readonly unpriced: number;
  readonly savedUsd: number | null;
}

export interface FunctionPoint extends PointFigures {
  readonly fn: string;
  /** The median of the calls that this run executed. */
  readonly medianMs: number | null;
}

export interface RunPoint extends PointFigures {
  readonly run: string;
  readonly started: string;
  readonly status: CountedStatus;
  readonly durationMs: number;
  readonly functions: readonly FunctionPoint[];
}

export interface Trend extends RunStats {
  readonly workflow: Workflow;
  /** Oldest first. */
  readonly runs: readonly RunPoint[];
}

export async function trendOf(
  store: JournalStore,
  workflow: Workflow,
  files: readonly RunFile[],
  onDefect: (defect: Defect) => void,
): Promise<Trend> {
  const measured = await measureRuns(store, files, onDefect);
  const own = measured.filter(({ isServing }) => !isServing);
  const point = (run: MeasuredRun): RunPoint => pointOf(run, [run, ...measured.filter(({ serves }) => serves === run.ref.run)]);
  return { workflow, ...combine(measured), runs: own.map(point) };
}

/** `parts`: the run itself, and those that serve it: they have the attempts of its workers, and of calls that ended when it was sealed. */
function pointOf({ ref: { run }, status, durationMs }: MeasuredRun, parts: readonly MeasuredRun[]): RunPoint {
  const total = merged(parts.map(({ counts }) => counts.ledger.total));
  const names = new Set(parts.flatMap(({ counts }) => [...counts.ledger.functions.keys()]));
  return {
    run,
    started: new Date(startOf(run)).toISOString(),
    status,
    durationMs,
    ...figuresOf(countedFigures(total)),
    functions: [...names].map((fn) => ({
      fn,
      ...figuresOf(countedFigures(merged(parts.flatMap(({ counts }) => counts.ledger.functions.get(fn) ?? [])))),
      medianMs: quantile(sorted(parts.flatMap(({ counts }) => counts.samples.get(fn)?.durationMs ?? [])), 0.5),
    })),
  };
}

function figuresOf(counted: ReturnType<typeof countedFigures>): PointFigures {
  const { executed, reused, failed, unresolved, retries, hitRate, costUsd, unpriced, savedUsd } = counted;
  return { executed, reused, failed, unresolved, retries, hitRate, costUsd, unpriced, savedUsd };
}
