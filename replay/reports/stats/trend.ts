/** Shows how the runs of one workflow developed: the figures of each run, in all and by function, beside those of all together. */
import { startOf, type Workflow } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { quantile, sorted } from '../../fold/quantile.js';
import type { CountedStatus } from '../../fold/reported-status.js';
import { combine, countedFigures, measureRuns, type MeasuredRun, type RunStats } from './stats.js';

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
  return { workflow, ...combine(measured), runs: measured.map(pointOf) };
}

function pointOf({ ref: { run }, status, durationMs, counts: { ledger, samples } }: MeasuredRun): RunPoint {
  return {
    run,
    started: new Date(startOf(run)).toISOString(),
    status,
    durationMs,
    ...figuresOf(countedFigures(ledger.total)),
    functions: [...ledger.functions].map(([fn, calls]) => ({
      fn,
      ...figuresOf(countedFigures(calls)),
      medianMs: quantile(sorted(samples.get(fn)?.durationMs ?? []), 0.5),
    })),
  };
}

function figuresOf(counted: ReturnType<typeof countedFigures>): PointFigures {
  const { executed, reused, failed, unresolved, retries, hitRate, costUsd, unpriced, savedUsd } = counted;
  return { executed, reused, failed, unresolved, retries, hitRate, costUsd, unpriced, savedUsd };
}
