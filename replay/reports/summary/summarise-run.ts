/** Summarises one recorded run. */
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { foldRun } from '../../fold/fold-run.js';
import { reportRun, summary, type RunReport } from './summary.js';

/** Status, counts and what is in flight of one run. Reads all of it. */
export async function summariseRun(
  store: JournalStore,
  { ref, liveness }: RunFile,
  { nowMs, onDefect }: { readonly nowMs: number; readonly onDefect?: (defect: Defect) => void },
): Promise<RunReport> {
  const state = await foldRun(store, ref, summary, onDefect === undefined ? {} : { onDefect });
  return reportRun(state, ref, liveness, nowMs);
}
