/** `mlld journal list [SCRIPT]`: lists the recorded runs, the latest first. */
import type { RunId } from '../../../src/api/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { scriptName, type Project } from '../../../src/api/commands/project.js';
import {
  countedStatus,
  crashedRuns,
  recordedCounts,
  runDurationMs,
  startOf,
  workerOfRun,
  type ServingWorker,
} from '../../../src/api/commands/run-list.js';
import { reportStore } from '../../../src/api/reports/odd-lines.js';
import { beginningsOfRuns } from '../../../src/api/team/beginnings-of-runs.js';
import { summariseRun } from '../../../src/api/reports/summary.js';
import type { RunReport } from '../../../replay/reports/summary/summary.js';
import { allRuns, recordedScript } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { MlldError } from '../../../src/errors.js';
import { agoMs } from '../../command-table/values.js';
import { openProject, reportDefects } from '../open-project.js';
import { formatOf, type Format } from '../../options/format.js';
import { renderRuns, runsCsv, type ListedRun } from '../../render/reports/journal.js';
import { isAnsweredFromElsewhere } from '../../render/question.js';
import { reportStyle } from '../../render/style.js';

interface ListOptions {
  readonly last?: number;
  readonly status?: readonly string[];
  readonly failed?: true;
  readonly workers?: true;
  readonly since?: string;
  readonly script?: string;
  readonly format?: Format;
  readonly json?: true;
}

/** A terminal shows so many runs unless it is told otherwise. */
const LAST_ON_TERMINAL = 20;

export async function listRuns(io: Io, script: string | undefined, options: ListOptions): Promise<void> {
  const format = formatOf(options);
  const isWanted = filterOf(options, io.todayMs());
  const showsWorkers = options.workers === true || options.status?.includes('worker') === true;
  const { project, store: journal } = await openProject(io);
  const store = reportStore(journal, reportDefects(io));
  const named = scriptOf(script, options.script);
  const workflow = named === undefined ? undefined : await recordedScript(store, project, named);
  const recorded = await allRuns(store, workflow);
  // Elsewhere a run counts for what its workers did.
  const workers = new Map<RunId, ServingWorker>();
  if (showsWorkers) {
    for (const file of recorded) {
      const worker = await workerOfRun(store, file);
      if (worker !== null) workers.set(file.ref.run, worker);
    }
  }
  const files = showsWorkers ? withTheirWorkers(recorded, workers) : recorded.filter((file) => !isOfWorker(file));
  const crashed = new Map<RunId, RunReport>();
  for (const name of new Set(files.map(({ ref }) => ref.workflow))) {
    const itsFiles = files.filter(({ ref }) => ref.workflow === name);
    for (const [run, report] of await crashedRuns(store, name, itsFiles)) crashed.set(run, report);
  }
  const resumed =
    options.failed === true ? await (await import('../../../src/api/reports/postmortem.js')).resumedToTheirEnd(store, files) : undefined;
  const last = options.last ?? (format === 'table' && io.stdoutColumns() !== undefined ? LAST_ON_TERMINAL : Infinity);
  const listed: Omit<ListedRun, 'person'>[] = [];
  const shown: RunFile[] = [];
  let more = false;
  for (const file of files.toReversed()) {
    if (!isWanted.run(file) || resumed?.has(file.ref.run) === true) continue;
    const run = await listedRun(io, { store, project }, file, { crashed: crashed.get(file.ref.run), worker: workers.get(file.ref.run) });
    if (!isWanted.listed(run)) continue;
    if (listed.length >= last) {
      more = true;
      break;
    }
    listed.push(run);
    shown.push(file);
  }
  const beginnings = await beginningsOfRuns(
    store,
    shown.map(({ ref }) => ref),
  );
  const runs = listed.map((run, index): ListedRun => {
    const { person = null, firstMs } = beginnings.get(run.run) ?? {};
    const { finished } = shown[index] as RunFile;
    const durationMs = finished === undefined ? run.durationMs : runDurationMs(run.run, { firstMs, lastMs: Date.parse(finished.ts) });
    return { ...run, durationMs, person };
  });
  if (format === 'json') io.stdout(`${JSON.stringify(runs, undefined, 2)}\n`);
  else if (format === 'csv') io.stdout(runsCsv(runs));
  else io.stdout(renderRuns(runs, reportStyle(io), isWanted.isFilter && files.length > 0 ? 'No recorded run is like that.' : undefined));
  if (more && options.last === undefined) io.stdout(`The latest ${last} runs; --last ${files.length} shows all.\n`);
}

function scriptOf(argument: string | undefined, flag: string | undefined): string | undefined {
  if (argument !== undefined && flag !== undefined && argument !== flag)
    throw new MlldError('USAGE', `Both ${argument} and --script ${flag} name a script`, { hint: 'name one of them' });
  return argument ?? flag;
}

interface RunFilter {
  /** Looks at what costs nothing to read. */
  run(file: RunFile): boolean;
  listed(run: Pick<ListedRun, 'status'>): boolean;
  readonly isFilter: boolean;
}

const STATUSES: { readonly [S in ListedRun['status']]: 'well' | 'needs somebody' } = {
  completed: 'well',
  running: 'well',
  restarted: 'well',
  cleaned: 'well',
  rejected: 'well',
  restored: 'well',
  salvaged: 'well',
  worker: 'well',
  incomplete: 'needs somebody',
  failed: 'needs somebody',
  paused: 'needs somebody',
  interrupted: 'needs somebody',
  'timed-out': 'needs somebody',
  crashed: 'needs somebody',
  unreadable: 'needs somebody',
};

function filterOf({ status: wanted, failed, since }: ListOptions, nowMs: number): RunFilter {
  const known = Object.keys(STATUSES);
  const unknown = wanted?.find((status) => !known.includes(status));
  if (unknown !== undefined) throw new MlldError('USAGE', `--status ${unknown}: there is no such status`, { hint: known.join(', ') });
  const fromMs = since === undefined ? -Infinity : sinceMs(since, nowMs);
  return {
    run: ({ ref }) => startOf(ref.run) >= fromMs,
    listed: ({ status }) => (wanted?.includes(status) ?? true) && (failed === undefined || STATUSES[status] === 'needs somebody'),
    isFilter: wanted !== undefined || failed !== undefined || since !== undefined,
  };
}

function sinceMs(text: string, nowMs: number): number {
  const ago = agoMs(text);
  if (ago !== undefined) return nowMs - ago;
  const ms = Date.parse(text);
  if (Number.isNaN(ms))
    throw new MlldError('USAGE', `--since ${text}: not a time`, { hint: '12h, 7d, 2w, 2026-11-21, 2026-11-21T08:45:00Z' });
  return ms;
}

function isOfWorker({ finished, isWorker }: RunFile): boolean {
  return isWorker === true || finished?.worker !== undefined;
}

/** Puts the runs of workers before the run that they served, where a list that shows the latest first has them below it. */
function withTheirWorkers(files: readonly RunFile[], workers: ReadonlyMap<RunId, ServingWorker>): readonly RunFile[] {
  const serving = new Map<RunId, RunFile[]>();
  const own: RunFile[] = [];
  const known = new Set(files.map(({ ref }) => ref.run));
  for (const file of files) {
    const served = workers.get(file.ref.run)?.for;
    if (served === undefined || !known.has(served)) own.push(file);
    else serving.set(served, [...(serving.get(served) ?? []), file]);
  }
  return own.flatMap((file) => [...(serving.get(file.ref.run) ?? []), file]);
}

/** Undefined for a run in which something ran. */
function recordStatus({ cleaned, marked, salvages, worker }: NonNullable<RunFile['finished']>): ListedRun['status'] | undefined {
  if (worker !== undefined) return 'worker';
  if (salvages !== undefined) return 'salvaged';
  return cleaned === true ? 'cleaned' : marked;
}

/** A run that ended in order has its totals in its last event, and how long it took follows from its first; others are read in full. */
async function listedRun(
  io: Io,
  { store, project }: { readonly store: JournalStore; readonly project: Project },
  file: RunFile,
  { crashed, worker = null }: { readonly crashed: RunReport | undefined; readonly worker: ServingWorker | null | undefined },
): Promise<Omit<ListedRun, 'person'>> {
  const { ref, finished } = file;
  const startedMs = startOf(ref.run);
  const common = {
    run: ref.run,
    script: scriptName(project, ref.workflow),
    workflow: ref.workflow,
    started: new Date(startedMs).toISOString(),
    atWorkers: finished?.totals.atWorkers ?? null,
    atWorkersUsd: finished?.totals.atWorkersUsd ?? null,
    worker,
  };
  const counts = finished && recordedCounts(finished.totals);
  if (finished !== undefined && counts !== undefined) {
    const status = recordStatus(finished) ?? countedStatus(finished.status, counts);
    return { ...common, durationMs: null, status, ...counts, inFlight: [], questions: [] };
  }
  if (file.isOfUnknownVersion) {
    return { ...common, durationMs: null, status: 'unreadable', ...UNKNOWN_COUNTS, inFlight: [], questions: [] };
  }
  const report = crashed ?? (await summariseRun(store, file, { nowMs: io.todayMs() }));
  const isServing = isOfWorker(file);
  const { durationMs = null, status, inFlight, questions, executed, reused, failed, accepted, denied, notExecuted } = report;
  const { unresolved, unresolvedBefore } = report;
  const { attempts, retries, model, inputTokens, outputTokens, costUsd, unpriced, savedUsd } = report;
  const answerable = isAnsweredFromElsewhere(report);
  const calls = inFlight.map(({ fn, preview = null, phase, durationMs: ms }) => ({
    fn,
    preview,
    ...(phase !== undefined && { phase }),
    durationMs: ms,
  }));
  return {
    ...common,
    durationMs,
    status:
      (finished && recordStatus(finished)) ??
      (file.isSalvage ? 'salvaged' : isServing && status !== 'running' ? 'worker' : countedStatus(status, report)),
    executed,
    reused,
    failed,
    accepted,
    denied,
    notExecuted,
    unresolved,
    unresolvedBefore,
    attempts,
    retries,
    model,
    inputTokens,
    outputTokens,
    costUsd,
    unpriced,
    savedUsd,
    inFlight: calls,
    questions: questions.map((question) => ({ ...question, answerable })),
  };
}

const UNKNOWN_COUNTS = {
  executed: null,
  reused: null,
  failed: null,
  accepted: null,
  denied: null,
  notExecuted: null,
  unresolved: null,
  unresolvedBefore: null,
  attempts: null,
  retries: null,
  model: null,
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
  unpriced: null,
  savedUsd: null,
};
