/** `mlld checkpoint list|inspect|clean SCRIPT`: lists what is recorded for a script, and invalidates it. checkpoint-resume.md 13. */
import { hostname } from 'node:os';
import { seqOf, type CallKey, type RunRef } from '../../src/api/ids.js';
import type { JournalStore } from '../../journal/store.js';
import {
  functionHistory,
  concurrentRuns,
  loadWorkflow,
  usable,
  reportRun,
  summary,
  unknownRuns,
  resolveWorkflow,
  nearScript,
  createRun,
} from '../../src/api/commands/checkpoints.js';
import { scriptName } from '../../src/api/commands/project.js';
import type { PriorRuns } from '../../replay/memo/load.js';
import { foldRun } from '../../src/api/fold.js';
import type { UsableEntry } from '../../replay/memo/memo.js';
import type { UnknownRun } from '../../replay/upkeep/unknown-events.js';
import type { Io } from '../terminal/io.js';
import { openProject, reportDefects } from './open-project.js';
import { renderCleaned, renderEntries, renderLeft } from '../render/reports/checkpoint.js';

interface JsonOption {
  readonly json?: true;
}

interface Recorded {
  readonly store: JournalStore;
  readonly name: string;
  readonly past: PriorRuns;
}

export async function listEntries(io: Io, script: string, { json }: JsonOption): Promise<void> {
  const recorded = await recordOf(io, script);
  if (json) {
    io.stdout(`${JSON.stringify(recorded === undefined ? [] : await entriesOf(recorded), undefined, 2)}\n`);
    return;
  }
  const entries = recorded === undefined ? [] : [...usable(recorded.past.memo)].map(([, question]) => question);
  io.stdout(renderEntries(entries, { script, name: recorded?.name ?? script }));
}

export async function inspect(io: Io, script: string): Promise<void> {
  const recorded = await recordOf(io, script);
  const report =
    recorded === undefined
      ? { script, path: null, runs: [], entries: [] }
      : { script: recorded.name, path: recorded.past.workflow, runs: await runsOf(io, recorded), entries: await entriesOf(recorded) };
  io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
}

/**
 * Invalidates by recording a run of its own: nothing is deleted, and the journal shows when and by whom it was done. A run with
 * events that this program does not know is left as it is, and named.
 */
export async function clean(io: Io, script: string, { json }: JsonOption): Promise<void> {
  const recorded = await recordOf(io, script);
  const left = recorded === undefined ? [] : await unknownRuns(recorded.store, recorded.past.runs);
  const cleaned = recorded !== undefined && recorded.past.runs.length > left.length ? recorded : undefined;
  const counts = cleaned === undefined ? { runs: 0, entries: 0 } : countsOf(cleaned, left);
  const ref = cleaned === undefined ? undefined : await recordCleaning(io, cleaned, left);
  if (json) {
    const common = cleaned === undefined ? { script } : { script: cleaned.name, path: cleaned.past.workflow };
    io.stdout(`${JSON.stringify({ ...common, ...counts, run: ref?.run, ...(left.length > 0 && { left }) }, undefined, 2)}\n`);
  } else io.stdout(renderCleaned(cleaned, script) + renderLeft(left));
}

/** Runs that are left alone are recorded like concurrent runs of which no event counts yet: their results stay usable. */
async function recordCleaning(io: Io, { store, name, past }: Recorded, left: readonly UnknownRun[]): Promise<RunRef> {
  const journal = await createRun(store, past, io.todayMs);
  const { ref } = journal;
  const { workflow } = ref;
  const beside = await concurrentRuns(store, past, ref);
  const isLeft = new Set(left.map(({ run }) => run));
  const during = [...beside.filter(({ run }) => !isLeft.has(run)), ...left.map(({ run }) => ({ run, seq: seqOf(-1) }))];
  try {
    await journal.append({ type: 'run.started', workflow, name, argv: io.argv, payload: {}, flags: {}, host: hostname(), ...io.program });
    await journal.append({ type: 'memo.reset', reason: 'clean', ...(during.length === 0 ? {} : { during }) });
    await journal.append({
      type: 'run.finished',
      status: 'completed',
      cleaned: true,
      totals: { executed: 0, reused: 0, failed: 0, withoutResult: 0 },
    });
  } finally {
    await journal.close();
  }
  return ref;
}

async function recordOf(io: Io, script: string): Promise<Recorded | undefined> {
  const { project, store } = await openProject(io);
  const workflow = await resolveWorkflow(store, project, script);
  if (workflow === undefined) {
    const near = await nearScript(store, project, script);
    if (near !== undefined) io.stderr(`note: did you mean ${near}?\n`);
    return undefined;
  }
  const past = await loadWorkflow(store, workflow, { onDefect: reportDefects(io) });
  return { store, name: scriptName(project, workflow), past };
}

function countsOf({ past }: Recorded, left: readonly UnknownRun[]): { readonly runs: number; readonly entries: number } {
  const isLeft = new Set(left.map(({ run }) => run));
  const entries = [...usable(past.memo)].filter(([, { result }]) => !isLeft.has(result.ref.run));
  return { runs: past.runs.length - left.length, entries: entries.length };
}

async function runsOf(io: Io, { store, past }: Recorded): Promise<readonly object[]> {
  const reports = [];
  for (const { ref, liveness } of past.runs) {
    const state = await foldRun(store, ref, summary);
    const { status, startedMs, endedMs, executed, reused, failed } = reportRun(state, ref, liveness, io.todayMs());
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

async function entriesOf({ store, past }: Recorded): Promise<readonly object[]> {
  const sites = await sitesOf(store, past);
  return [...usable(past.memo)].map(([key, question]: readonly [CallKey, UsableEntry]) => ({
    key,
    fn: question.fn,
    args: question.preview ?? null,
    site: sites(question),
    time: iso(question.result.endedMs),
    durationMs: question.result.elapsedMs,
    sizeBytes: question.result.sizeBytes,
    run: question.result.ref.run,
  }));
}

/** Numbers call sites as `--resume @fn:N` does; null where the latest run that called the function did not call it. */
async function sitesOf(store: JournalStore, past: PriorRuns): Promise<(question: UsableEntry) => number | null> {
  const numbers = new Map<string, number>();
  for (const [fn, ref] of past.memo.called) {
    const { sites } = await foldRun(store, ref, functionHistory(fn));
    sites.forEach(({ site, declared }, index) => numbers.set(JSON.stringify([fn, site, declared]), index));
  }
  return ({ fn, site = '', declared }) => numbers.get(JSON.stringify([fn, site, declared])) ?? null;
}

function iso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
