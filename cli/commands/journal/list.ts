/** `mlld journal list [SCRIPT]`: lists the recorded runs, the latest first. */
import type { RunId } from '../../../src/api/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { scriptName, type Project } from '../../../src/api/commands/project.js';
import { crashedRuns, recordedCounts, runDurationMs, startOf } from '../../../src/api/commands/run-list.js';
import { summariseRun } from '../../../src/api/reports/summary.js';
import type { ReportedStatus } from '../../../replay/fold/reported-status.js';
import type { RunReport } from '../../../replay/reports/summary/summary.js';
import { allRuns, recordedScript } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openProject } from '../open-project.js';
import { renderRuns, type ListedRun } from '../../render/reports/journal.js';
import { reportStyle } from '../../render/style.js';

export async function listRuns(io: Io, script: string | undefined, { json }: { readonly json?: true }): Promise<void> {
  const { project, store } = await openProject(io);
  const workflow = script === undefined ? undefined : await recordedScript(store, project, script);
  const files = await allRuns(store, workflow);
  const crashed = new Map<RunId, RunReport>();
  for (const name of new Set(files.map(({ ref }) => ref.workflow))) {
    const itsFiles = files.filter(({ ref }) => ref.workflow === name);
    for (const [run, report] of await crashedRuns(store, name, itsFiles)) crashed.set(run, report);
  }
  const runs = [];
  for (const file of files.toReversed()) runs.push(await listedRun(io, store, project, file, crashed.get(file.ref.run)));
  io.stdout(json ? `${JSON.stringify(runs, undefined, 2)}\n` : renderRuns(runs, reportStyle(io)));
}

/** A run that ended in order has its totals in its last event; only other runs are read in full. */
async function listedRun(io: Io, store: JournalStore, project: Project, file: RunFile, crashed: RunReport | undefined): Promise<ListedRun> {
  const { ref, finished } = file;
  const startedMs = startOf(ref.run);
  const common = {
    run: ref.run,
    script: scriptName(project, ref.workflow),
    workflow: ref.workflow,
    started: new Date(startedMs).toISOString(),
  };
  const counts = finished && recordedCounts(finished.totals);
  if (finished !== undefined && counts !== undefined) {
    const status = finished.cleaned === true ? 'cleaned' : (finished.marked ?? listedStatus(finished.status, counts));
    return { ...common, durationMs: runDurationMs(ref.run, Date.parse(finished.ts)), status, ...counts, inFlight: [] };
  }
  if (file.isOfUnknownVersion) {
    return { ...common, durationMs: null, status: 'unreadable', ...UNKNOWN_COUNTS, inFlight: [] };
  }
  const report = crashed ?? (await summariseRun(store, file, { nowMs: io.todayMs() }));
  const { durationMs = null, status, inFlight, executed, reused, failed, accepted, denied, notExecuted, unresolved } = report;
  const { attempts, retries, model, inputTokens, outputTokens, costUsd, unpriced, savedUsd } = report;
  const calls = inFlight.map(({ fn, preview = null, durationMs: ms }) => ({ fn, preview, durationMs: ms }));
  return {
    ...common,
    durationMs,
    status: listedStatus(status, report),
    executed,
    reused,
    failed,
    accepted,
    denied,
    notExecuted,
    unresolved,
    attempts,
    retries,
    model,
    inputTokens,
    outputTokens,
    costUsd,
    unpriced,
    savedUsd,
    inFlight: calls,
  };
}

/** calls.md 14.2 */
function listedStatus(status: ReportedStatus, { unresolved }: { readonly unresolved: number }): ListedRun['status'] {
  return status === 'completed' && unresolved > 0 ? 'incomplete' : status;
}

const UNKNOWN_COUNTS = {
  executed: null,
  reused: null,
  failed: null,
  accepted: null,
  denied: null,
  notExecuted: null,
  unresolved: null,
  attempts: null,
  retries: null,
  model: null,
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
  unpriced: null,
  savedUsd: null,
};
