/** Hit rate, cost, durations and failures over many runs: `mlld journal stats`. */
import type { Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { statsOf as stats, type RunStats } from '../../../replay/reports/stats/stats.js';
import { trendOf as trend, type Trend } from '../../../replay/reports/stats/trend.js';
import { isRecordOfUpkeep, servesAnotherRun } from '../../../replay/fold/record-of-upkeep.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { allRuns } from '../../session/recorded-run.js';
import { skipDefects, type ReadOptions } from '../run-target.js';

export type { Figures, FunctionFigures, RunStats } from '../../../replay/reports/stats/stats.js';
export type { FunctionPoint, PointFigures, RunPoint, Trend } from '../../../replay/reports/stats/trend.js';

/** A default, because every event of each run is read. */
export const STATS_RUNS_DEFAULT = 100;

export interface StatsOptions extends ReadOptions {
  /** Only runs of this script or pipeline; by default of all. */
  readonly workflow?: Workflow | undefined;
  /** Counts only so many runs, back from the latest. */
  readonly last?: number;
}

/**
 * Counts over the latest runs, in all, by function and by day. Durations in milliseconds, costs in US dollars, null where nothing was
 * measured. Throws `JournalError` when the disk fails.
 *
 * ```js
 * const { total, functions } = await statsOf(store, { workflow: workflowOf('llm/run/nightly.mld'), last: 20 });
 * ```
 */
export async function statsOf(
  store: JournalStore,
  { workflow, last = STATS_RUNS_DEFAULT, onDefect = skipDefects }: StatsOptions = {},
): Promise<RunStats> {
  return stats(reportStore(store), await latestRuns(store, workflow, last), onDefect);
}

/** Counts as `statsOf` does, and for each of the latest runs of one workflow too, oldest first. */
export async function trendOf(
  store: JournalStore,
  { workflow, last = STATS_RUNS_DEFAULT, onDefect = skipDefects }: StatsOptions & { readonly workflow: Workflow },
): Promise<Trend> {
  return trend(reportStore(store), workflow, await latestRuns(store, workflow, last), onDefect);
}

async function latestRuns(store: JournalStore, workflow: Workflow | undefined, last: number): Promise<readonly RunFile[]> {
  const runs = await allRuns(store, workflow);
  const latest = runs.filter((file) => !isRecordOfUpkeep(file)).slice(-last);
  const from = latest[0]?.ref.run;
  return from === undefined ? latest : runs.filter((file) => latest.includes(file) || (servesAnotherRun(file) && file.ref.run > from));
}
