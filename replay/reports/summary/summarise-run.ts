/** Summarises one recorded run. */
import type { OpPath } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { endRun } from '../../fold/calls/call-ledger.js';
import { foldRun } from '../../fold/fold-run.js';
import { reportRun, summary, type RunReport } from './summary.js';

/**
 * Status, counts and what is in flight of one run. Reads all of it. `salvaged`: the operations whose attempts count in salvage runs
 * (COUNTS-6).
 */
export async function summariseRun(
  store: JournalStore,
  { ref, liveness }: RunFile,
  {
    nowMs,
    onDefect,
    salvaged,
  }: { readonly nowMs: number; readonly onDefect?: (defect: Defect) => void; readonly salvaged?: ReadonlySet<OpPath> | undefined },
): Promise<RunReport> {
  const state = await foldRun(store, ref, summary, onDefect === undefined ? {} : { onDefect });
  const report = reportRun(state, ref, liveness, nowMs);
  if (salvaged === undefined || report.status === 'running') return report;
  endRun(state.ledger, salvaged);
  const { attempts, retries, callsMs, inputTokens, outputTokens, costUsd, unpriced } = state.ledger.total;
  return { ...report, attempts, retries, callsMs, inputTokens, outputTokens, costUsd, unpriced };
}
