/** Names one recorded run for the functions that read it: by its reference, or by what the store lists of it. */
import type { RunRef } from '../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../journal/store.js';
import { MlldError } from '../errors.js';

/** `report.journal` of a run that has just ended, an element of `store.runs(workflow)`, or the result of `resolveRun`. */
export type RunTarget = RunRef | RunFile;

export interface ReadOptions {
  /** Called for each damaged or torn part of a journal, which is skipped. Without it they are skipped silently; `verifyRun` lists them. */
  readonly onDefect?: ((defect: Defect) => void) | undefined;
}

/** The default of `onDefect`. */
export const skipDefects = (): void => undefined;

/** Reads the end and the lock of the run, unless the caller has done so. Throws RUN_UNKNOWN. */
export async function runFile(store: JournalStore, run: RunTarget): Promise<RunFile> {
  if ('ref' in run) return run;
  const file = (await store.runs(run.workflow)).find(({ ref }) => ref.run === run.run);
  if (file !== undefined) return file;
  throw new MlldError('RUN_UNKNOWN', `There is no run ${run.run} of ${run.workflow} in this store`, {
    hint: 'store.workflows() and store.runs(workflow) list what is recorded',
  });
}

export function refOf(run: RunTarget): RunRef {
  return 'ref' in run ? run.ref : run;
}
