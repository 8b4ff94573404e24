/** The page of a run: `mlld journal report`. Not exported by the package. */
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { openPageOf, readPage, type OpenPage, type PageOptions, type RunPage } from '../../../replay/reports/page/page-data.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { hostDefaults } from '../../world/host-defaults.js';
import { readPipelinePage } from './page-pipeline.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export type { OpenPage, PageOptions, RunPage } from '../../../replay/reports/page/page-data.js';

export interface OpenPageOptions extends ReadOptions {
  /** Words the commands that the page offers; without it the page offers none. */
  readonly stepsOf?: PageOptions['stepsOf'];
}

/** Reads what the page of a run shows. Throws RUN_UNKNOWN, and `JournalError` when the disk fails. */
export async function openPage(
  journal: JournalStore,
  run: RunTarget,
  { onDefect = skipDefects, stepsOf = () => [] }: OpenPageOptions = {},
): Promise<RunPage> {
  const store = reportStore(journal);
  const file = await runFile(store, run);
  const pipeline = await readPipelinePage(store, file, { draws: true });
  return readPage(store, file, { nowMs: hostDefaults().io.nowMs(), onDefect, stepsOf, pipeline });
}

/** Opens the page of a run that may still be running. It has no drawing: that takes longer than the rest, and is made apart. */
export async function followPage(journal: JournalStore, file: RunFile, stepsOf: PageOptions['stepsOf']): Promise<OpenPage> {
  const store = reportStore(journal);
  const pipeline = await readPipelinePage(store, file, { draws: false });
  return openPageOf(store, file, { nowMs: hostDefaults().io.nowMs(), onDefect: skipDefects, stepsOf, pipeline });
}
