/** Status, counts, durations and cost of one run: what `mlld journal list` shows of a run that has not ended in order. */
import type { JournalStore } from '../../../journal/store.js';
import { summariseRun as summarise } from '../../../replay/reports/summary/summarise-run.js';
import type { RunReport as SummaryReport } from '../../../replay/reports/summary/summary.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { hostDefaults } from '../../world/host-defaults.js';
import { runFile, type ReadOptions, type RunTarget } from '../run-target.js';

export type { SummaryReport };
export type { CallsAtWorkers } from '../../../journal/storage/offers.js';
export type { InFlight, LaneHold, LoopProgress, RunSummary } from '../../../replay/reports/summary/summary.js';

export interface SummaryOptions extends ReadOptions {
  /** The present for calls that are in flight: milliseconds since 1970, by default now. */
  readonly nowMs?: number;
}

/**
 * Summarises a run, also one that is running. Reads the whole run. Times are milliseconds since 1970, durations milliseconds, costs US
 * dollars. Throws RUN_UNKNOWN, and `JournalError` when the disk fails.
 *
 * ```js
 * const { status, executed, reused, costUsd } = await summariseRun(store, report.journal);
 * ```
 */
export async function summariseRun(store: JournalStore, run: RunTarget, { nowMs, onDefect }: SummaryOptions = {}): Promise<SummaryReport> {
  const file = await runFile(store, run);
  return summarise(reportStore(store), file, { nowMs: nowMs ?? hostDefaults().io.nowMs(), ...(onDefect && { onDefect }) });
}
