/** Lists the runs and the usable results that are recorded of one script. checkpoint-resume.md 13. */
import type { CallKey } from '../../../journal/ids.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { functionHistory } from '../../../replay/memo/history.js';
import { loadWorkflow, type PriorRuns } from '../../../replay/memo/load.js';
import { usable, type UsableEntry } from '../../../replay/memo/memo.js';
import { reportRun, summary } from '../../../replay/reports/summary/summary.js';
import { scriptName, type WorkingProject } from '../project.js';
import { resolveWorkflow } from '../resolve-workflow.js';

export interface RecordedScript {
  readonly store: JournalStore;
  readonly name: string;
  readonly priorRuns: PriorRuns;
}

/** Resolves to undefined when nothing is recorded of the script. */
export async function openRecorded(
  store: JournalStore,
  project: WorkingProject,
  script: string,
  onDefect: (defect: Defect) => void,
): Promise<RecordedScript | undefined> {
  const workflow = await resolveWorkflow(store, project, script);
  if (workflow === undefined) return undefined;
  return { store, name: scriptName(project, workflow), priorRuns: await loadWorkflow(store, workflow, { onDefect }) };
}

/** Folds every run in full; `nowMs` is the present for calls in flight. */
export async function runsOf({ store, priorRuns }: RecordedScript, nowMs: () => number): Promise<readonly object[]> {
  const reports = [];
  for (const { ref, liveness } of priorRuns.runs) {
    const state = await foldRun(store, ref, summary);
    const { status, startedMs, endedMs, executed, reused, failed } = reportRun(state, ref, liveness, nowMs());
    const { flags, checkpoints } = state;
    reports.push({
      id: ref.run,
      started: iso(startedMs),
      ended: iso(endedMs),
      outcome: status,
      flags,
      checkpoints,
      executed,
      reused,
      failed,
    });
  }
  return reports;
}

/** Lists the results that the next run may reuse, each with the number of its call site. */
export async function entriesOf({ store, priorRuns }: RecordedScript): Promise<readonly object[]> {
  const sites = await sitesOf(store, priorRuns);
  return [...usable(priorRuns.memo)].map(([key, entry]: readonly [CallKey, UsableEntry]) => ({
    key,
    fn: entry.fn,
    args: entry.preview ?? null,
    site: sites(entry),
    time: iso(entry.result.endedMs),
    durationMs: entry.result.elapsedMs,
    sizeBytes: entry.result.sizeBytes,
    run: entry.result.ref.run,
  }));
}

/** Numbers call sites as `--resume @fn:N` does; null where the latest run that called the function did not call it. */
async function sitesOf(store: JournalStore, priorRuns: PriorRuns): Promise<(entry: UsableEntry) => number | null> {
  const numbers = new Map<string, number>();
  for (const [fn, ref] of priorRuns.memo.called) {
    const { sites } = await foldRun(store, ref, functionHistory(fn));
    sites.forEach(({ site, declared }, index) => numbers.set(JSON.stringify([fn, site, declared]), index));
  }
  return ({ fn, site = '', declared }) => numbers.get(JSON.stringify([fn, site, declared])) ?? null;
}

function iso(ms: number | undefined): string | null {
  return ms === undefined || Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
