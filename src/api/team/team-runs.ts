/**
 * Lists the runs of a project, of all its workflows and all who run them, for programs that run long: `mlld serve`.
 *
 * TEAM-1 The first event of a run, and the counts of a run that is over, are read once, because they do not change. A list asks the store
 *        once for each workflow, and never for each run.
 * TEAM-2 A run in flight is read on from where the last list ended.
 * TEAM-3 Lists are made one after the other; requests during one share the next.
 * TEAM-4 An attempt that was in flight when its run was sealed counts in the salvage run that has its end, and not in the sealed run.
 */
import { startOfRun } from '../../../replay/fold/fold-run.js';
import { startOf, type RunId, type Workflow } from '../../../journal/ids.js';
import type { EventOf } from '../../../journal/event.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { recordedCounts } from '../../../replay/fold/recorded-counts.js';
import { countedStatus, type CountedStatus } from '../../../replay/fold/reported-status.js';
import { isSalvageRun, servesAnotherRun } from '../../../replay/fold/record-of-upkeep.js';
import { readSalvaged } from '../../../replay/fold/calls/salvaged-attempts.js';
import { runDurationMs, runningForMs } from '../../../replay/fold/run-duration.js';
import {
  addedCounts,
  followFigures,
  type AddedCounts,
  type RunFigures,
  type RunFollower,
  type WaitingQuestion,
} from '../../../replay/reports/team/run-figures.js';
import { personOf } from './beginnings-of-runs.js';
import { scriptName, type Project } from '../../session/project.js';
import { mapLimited } from './map-limited.js';

/** `costUsd` and `savedUsd` are in US dollars, null where nothing was priced. */
export interface TeamRun extends AddedCounts {
  readonly run: RunId;
  readonly workflow: Workflow;
  /** The name of the workflow as a person calls it. */
  readonly script: string;
  readonly isPipeline: boolean;
  /** ISO 8601, UTC. */
  readonly started: string;
  /** So far, for a run in flight; null where nothing is known. */
  readonly durationMs: number | null;
  readonly status: CountedStatus | 'waiting' | 'cleaned' | 'rejected' | 'restored' | 'salvaged' | 'worker' | 'unreadable';
  /** It holds calls of another run, which a worker executed or which a sealed run had begun: they count, and it is no run of its own. */
  readonly isServing: boolean;
  /** The run for which a worker executed these calls; null for other runs. */
  readonly serves: RunId | null;
  /**
   * `ada@laptop`; the name of the machine alone where no user is recorded, and empty where nothing is. A worker's run is of the person
   * whose run it served.
   */
  readonly person: string;
  readonly model: string | null;
  /** Attempts of calls in flight. */
  readonly inFlight: number;
}

export interface TeamList {
  /** Newest first. */
  readonly runs: readonly TeamRun[];
  readonly files: ReadonlyMap<RunId, RunFile>;
  /** The salvage runs of each sealed run that has any. TEAM-4 */
  readonly salvageRuns: ReadonlyMap<RunId, readonly RunFile[]>;
  /** The counts of runs in flight, which no last event has. */
  readonly inFlight: ReadonlyMap<RunId, RunFigures>;
}

export interface TeamRuns {
  list(): Promise<TeamList>;
}

interface TeamRunsOptions {
  readonly store: JournalStore;
  readonly project: Project;
  readonly nowMs: () => number;
}

/** The parts of a first event that lists show. */
interface Head {
  readonly person: string;
  readonly isPipeline: boolean;
  /** The time of the first event, by the clock of the machine that ran it. */
  readonly firstMs?: number;
  /** The run that a worker's run serves. */
  readonly serves?: RunId | undefined;
  /** The sealed run whose calls a salvage run has. */
  readonly salvages?: RunId | undefined;
}

/** A question of a run that waits for a person. */
export interface TeamQuestion extends WaitingQuestion, Pick<TeamRun, 'run' | 'script' | 'person'> {}

/** Limits the workflows, and the heads of files, that are read at the same time. */
const READERS = 8;
const NO_HEAD: Head = { person: '', isPipeline: false };
const NO_COUNTS: AddedCounts = {
  executed: 0,
  reused: 0,
  failed: 0,
  unresolved: 0,
  costUsd: null,
  unpriced: 0,
  savedUsd: null,
  atWorkers: 0,
};

export function createTeamRuns({ store, project, nowMs }: TeamRunsOptions): TeamRuns {
  const heads = new Map<RunId, Head>();
  const shown = new Map<RunId, { readonly of: string; readonly row: TeamRun }>();
  const followers = new Map<RunId, RunFollower>();
  const inFlight = new Map<RunId, RunFigures>();
  const names = new Map<Workflow, string>();
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<TeamList> | undefined;

  function nameOf(workflow: Workflow): string {
    const name = names.get(workflow) ?? scriptName(project, workflow);
    names.set(workflow, name);
    return name;
  }

  /** TEAM-1 */
  async function readHeads(workflow: Workflow, files: readonly RunFile[]): Promise<void> {
    const missing = files.filter(({ ref, isOfUnknownVersion }) => !isOfUnknownVersion && !heads.has(ref.run)).map(({ ref }) => ref);
    if (missing.length === 0) return;
    const running = new Set(files.filter(({ liveness }) => liveness === 'running').map(({ ref }) => ref.run));
    const read = store.firstEvents
      ? await store.firstEvents(
          workflow,
          missing.map(({ run }) => run),
        )
      : undefined;
    await mapLimited(missing, READERS, async (ref) => {
      const first = read ? read.get(ref.run) : await startOfRun(store, ref);
      if (first?.type === 'run.started') heads.set(ref.run, headOf(first));
      else if (!running.has(ref.run)) heads.set(ref.run, NO_HEAD); // it is lost
    });
  }

  /** TEAM-4 */
  function salvageRunsIn(files: readonly RunFile[]): TeamList['salvageRuns'] {
    const salvageRuns = new Map<RunId, RunFile[]>();
    for (const file of files) {
      const sealed = heads.get(file.ref.run)?.salvages;
      if (sealed !== undefined) salvageRuns.set(sealed, [...(salvageRuns.get(sealed) ?? []), file]);
    }
    return salvageRuns;
  }

  async function rowOf(file: RunFile, salvageRuns: readonly RunFile[]): Promise<TeamRun> {
    const { ref, bytes, liveness, finished } = file;
    const { serves, isPipeline, person: own } = heads.get(ref.run) ?? NO_HEAD;
    const person = (serves && heads.get(serves)?.person) ?? own;
    const of = `${bytes} ${lengthOf(salvageRuns)} ${liveness} ${file.isSalvage === true} ${person}`;
    const known = shown.get(ref.run);
    if (known?.of === of) return liveness === 'running' ? { ...known.row, durationMs: runningForMs(ref.run, nowMs()) } : known.row;
    const common = {
      run: ref.run,
      workflow: ref.workflow,
      script: nameOf(ref.workflow),
      started: new Date(startOf(ref.run)).toISOString(),
      isPipeline,
      isServing: serves !== undefined || servesAnotherRun(file),
      serves: serves ?? null,
      person,
    };
    const counted = (finished && atItsEnd(ref.run, heads.get(ref.run)?.firstMs, finished)) ?? (await followed(file, salvageRuns));
    const row: TeamRun = { ...common, ...counted, ...(serves !== undefined && { status: 'worker' as const }) };
    shown.set(ref.run, { of, row });
    return row;
  }

  /** Reads a run in flight, one that crashed, and one that an older program wrote. TEAM-2 */
  async function followed(file: RunFile, salvageRuns: readonly RunFile[]) {
    const { ref, liveness, isOfUnknownVersion } = file;
    if (isOfUnknownVersion) return { durationMs: null, status: 'unreadable' as const, model: null, inFlight: 0, ...NO_COUNTS };
    const follower = followers.get(ref.run) ?? followFigures(store, ref);
    if (liveness === 'running') followers.set(ref.run, follower);
    else followers.delete(ref.run);
    const figures = await follower.figures(liveness, await readSalvaged(store, salvageRuns));
    if (liveness === 'running') inFlight.set(ref.run, figures);
    const { lastTs, functions: _functions, questions, ...counts } = figures;
    const isSalvaged = isSalvageRun(file);
    const status = isSalvaged ? ('salvaged' as const) : questions.length > 0 ? ('waiting' as const) : figures.status;
    return { durationMs: durationOf(file, lastTs), model: null, ...counts, status };
  }

  function durationOf({ ref: { run }, liveness }: RunFile, lastTs: string | null): number | null {
    if (liveness === 'running') return runningForMs(run, nowMs());
    return lastTs === null ? null : runDurationMs(run, { firstMs: heads.get(run)?.firstMs, lastMs: Date.parse(lastTs) });
  }

  async function listAll(): Promise<TeamList> {
    const workflows = await store.workflows();
    const files = (
      await mapLimited(workflows, READERS, async (workflow) => {
        const found = await store.runs(workflow);
        await readHeads(workflow, found);
        return found;
      })
    ).flat();
    const salvageRuns = salvageRunsIn(files);
    const runs = await mapLimited(files, READERS, (file) => rowOf(file, salvageRuns.get(file.ref.run) ?? []));
    forget(files);
    return {
      runs: runs.sort((one, other) => (one.run < other.run ? 1 : -1)),
      files: new Map(files.map((file) => [file.ref.run, file])),
      salvageRuns,
      inFlight: new Map(inFlight),
    };
  }

  /** Runs are removed now and then. */
  function forget(files: readonly RunFile[]): void {
    const present = new Set(files.map(({ ref }) => ref.run));
    for (const kept of [heads, shown, followers]) for (const run of kept.keys()) if (!present.has(run)) kept.delete(run);
    const running = new Set(files.filter(({ liveness }) => liveness === 'running').map(({ ref }) => ref.run));
    for (const run of inFlight.keys()) if (!running.has(run)) inFlight.delete(run);
  }

  function listNow(): Promise<TeamList> {
    next = undefined;
    const listing = listAll();
    last = listing.catch(() => undefined);
    return listing;
  }

  // TEAM-3
  return { list: () => (next ??= last.then(listNow)) };
}

/** Adds up the lengths of runs, so that what was kept of them is recognised as stale. */
export function lengthOf(files: readonly RunFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Reads the last event of a run that ended in order; undefined where that does not say what the run did, as that of a salvage run. */
function atItsEnd(
  run: RunId,
  firstMs: number | undefined,
  { ts, status, totals, cleaned, marked, salvages, worker }: NonNullable<RunFile['finished']>,
) {
  const counts = recordedCounts(totals);
  if (counts === undefined || salvages !== undefined) return undefined;
  const record = worker ? ('worker' as const) : cleaned === true ? ('cleaned' as const) : marked;
  return {
    durationMs: runDurationMs(run, { firstMs, lastMs: Date.parse(ts) }),
    status: record ?? countedStatus(status, counts),
    model: counts.model,
    inFlight: 0,
    ...addedCounts(counts, totals.atWorkers),
  };
}

function headOf(started: EventOf<'run.started'>): Head {
  return {
    person: personOf(started),
    isPipeline: started.pipeline !== undefined,
    firstMs: Date.parse(started.ts),
    serves: started.worker?.for,
    salvages: started.salvages,
  };
}

/** The questions that wait longest come first. */
export function questionsIn({ runs, inFlight }: TeamList): readonly TeamQuestion[] {
  return runs
    .filter(({ status }) => status === 'waiting')
    .flatMap(({ run, script, person }) => (inFlight.get(run)?.questions ?? []).map((question) => ({ run, script, person, ...question })))
    .toSorted((one, other) => (one.askedAt < other.askedAt ? -1 : 1));
}
