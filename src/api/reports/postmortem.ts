/** Says why a run did not get to its end, and what resuming it takes: `mlld journal postmortem`. */
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { latestFailure as failure } from '../../../replay/reports/postmortem/latest-failure.js';
import { postMortemOf as postMortem, type PostMortemReport } from '../../../replay/reports/postmortem/postmortem-run.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { allRuns } from '../../session/recorded-run.js';
import { hostDefaults } from '../../world/host-defaults.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export { resumedToTheirEnd } from '../../../replay/reports/postmortem/latest-failure.js';
export type { ServedRun } from '../../../replay/reports/postmortem/served-run.js';
export type { ChainLink, Pending, PostMortemReport } from '../../../replay/reports/postmortem/postmortem-run.js';

export interface PostMortemOptions extends ReadOptions {
  /** The present for what is in flight: milliseconds since 1970, by default now. */
  readonly nowMs?: number;
}

/**
 * Reports the cause of a failure or crash, what was in flight, the last checkpoint and an estimate of what a resume reuses and makes anew.
 * Times are milliseconds since 1970, durations milliseconds, costs US dollars. Throws RUN_UNKNOWN, and `JournalError` when the disk fails.
 *
 * ```js
 * const { status, error, resume } = await postMortemOf(store, run);
 * ```
 */
export async function postMortemOf(
  store: JournalStore,
  run: RunTarget,
  { nowMs, onDefect }: PostMortemOptions = {},
): Promise<PostMortemReport> {
  const file = await runFile(store, run);
  return postMortem(reportStore(store), file, { nowMs: nowMs ?? hostDefaults().io.nowMs(), onDefect: onDefect ?? skipDefects });
}

/**
 * Returns the latest run that ended badly and was not resumed to its end since; undefined without one.
 *
 * ```js
 * const failed = await latestFailure(store);
 * if (failed) console.log(await postMortemOf(store, failed));
 * ```
 */
export async function latestFailure(store: JournalStore): Promise<RunFile | undefined> {
  return failure(reportStore(store), await allRuns(store));
}
