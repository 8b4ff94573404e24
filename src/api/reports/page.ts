/** The page of a run: `mlld journal report`. Not exported by the package. */
import type { JournalStore } from '../../../journal/store.js';
import { readPage, type PageOptions, type RunPage } from '../../../replay/reports/page/page-data.js';
import { hostDefaults } from '../../world/host-defaults.js';
import { readPipelinePage } from './page-pipeline.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export type { RunPage } from '../../../replay/reports/page/page-data.js';

export interface OpenPageOptions extends ReadOptions {
  /** Words the commands that the page offers; without it the page offers none. */
  readonly stepsOf?: PageOptions['stepsOf'];
}

/** Reads what the page of a run shows. Throws RUN_UNKNOWN, and `JournalError` when the disk fails. */
export async function openPage(
  store: JournalStore,
  run: RunTarget,
  { onDefect = skipDefects, stepsOf = () => [] }: OpenPageOptions = {},
): Promise<RunPage> {
  const file = await runFile(store, run);
  const pipeline = await readPipelinePage(store, file);
  return readPage(store, file, { nowMs: hostDefaults().io.nowMs(), onDefect, stepsOf, pipeline });
}
