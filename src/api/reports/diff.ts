/** Compares two runs: `mlld journal diff`. */
import type { JournalStore } from '../../../journal/store.js';
import {
  diffRuns as diff,
  doPart,
  forkPointOf as fork,
  type ForkPointReport,
  type RunDiff,
} from '../../../replay/reports/diff/diff-run.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export { doPart };
export type { DiffCall, DiffPair, DiffSide, ForkPointReport, RunDiff } from '../../../replay/reports/diff/diff-run.js';

/**
 * Compares status, calls, results, output, files and sources of two runs; times and costs are reported and never make a difference.
 * Durations in milliseconds, costs in US dollars. Throws RUN_UNKNOWN, and `JournalError` when the disk fails.
 *
 * ```js
 * const { same, calls } = await diffRuns(store, before, after);
 * ```
 */
export async function diffRuns(store: JournalStore, left: RunTarget, right: RunTarget, options: ReadOptions = {}): Promise<RunDiff> {
  return diff(reportStore(store), await runFile(store, left), await runFile(store, right), { onDefect: options.onDefect ?? skipDefects });
}

/**
 * Finds the last event that two runs have in common, where one is a fork or a resume of the other or of a common past; `doPart` says
 * whether they parted at all. Throws as `diffRuns`.
 *
 * ```js
 * const point = await forkPointOf(store, draftA, draftB);
 * ```
 */
export async function forkPointOf(
  store: JournalStore,
  left: RunTarget,
  right: RunTarget,
  options: ReadOptions = {},
): Promise<ForkPointReport> {
  return fork(reportStore(store), await runFile(store, left), await runFile(store, right), { onDefect: options.onDefect ?? skipDefects });
}
