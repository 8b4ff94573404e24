/** Lists and follows all pipeline runs of a project by their journals, for programs that run long: reads once what doesn't change. */
import { firstEvent } from '../../../../replay/fold/fold-run.js';
import { isRecordOfUpkeep } from '../../../../replay/fold/record-of-upkeep.js';
import type { Json } from '../../../../journal/event.js';
import { isRunId, type RunId, type Workflow } from '../../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../../journal/store.js';
import { checkpointOf, type Checkpoint } from '../../../../replay/pipeline/checkpoint-view.js';
import { isPipelineRun } from '../../../../replay/pipeline/pipeline-state.js';
import type { WaitingQuestion } from '../../../../replay/pipeline/waiting-question.js';
import { followLogicalRun, type FollowedRun, type RunFollower } from './follow-run.js';
import { logicalRunsOf, type FirstEvent, type LogicalRun } from './logical-run.js';
import { nodeStates } from './node-states.js';
import { statusAtEnd, statusOf, type PipelineStatus } from './pipeline-status.js';

/** A logical run at the time of the request. Read it at once: parts of it change later. */
export interface PipelineRun extends Pick<FollowedRun, 'questions' | 'source'> {
  readonly logicalRun: LogicalRun;
  /** The last run of the logical run. */
  readonly latest: RunFile;
  /** The last run of its pipeline: a resume continues no other one. */
  readonly newest: RunId;
  readonly status: PipelineStatus;
  readonly context: { readonly [key: string]: Json };
  /** The questions that wait for an answer; for an interrupted run those that it will ask again. */
  readonly openQuestions: readonly WaitingQuestion[];
  checkpoint(): Checkpoint;
  nodes(): ReturnType<typeof nodeStates>;
}

export interface PipelineRuns {
  /** Newest first. */
  list(): Promise<readonly PipelineStatus[]>;
  /** Finds a logical run by the id of any of its runs. */
  find(id: string): Promise<PipelineRun | undefined>;
}

/** Limits the logical runs whose state is held; of others only the status is. */
const FOLLOWED_MAX = 32;
/** Limits the workflows that are read at the same time. */
const READERS = 8;

interface Found {
  readonly logicalRun: LogicalRun;
  /** The last of its runs. */
  readonly latest: RunFile;
  readonly newest: RunId;
  readonly fileOf: (run: RunId) => RunFile | undefined;
}

/** `isOwn` is true while this process runs the logical run of that id, whose latest run is the other one; also between two of its runs. */
export function createPipelineRuns(store: JournalStore, isOwn: (id: RunId, latest: RunId) => boolean): PipelineRuns {
  const firstEvents = new Map<RunId, FirstEvent>();
  /** Runs in which no pipeline ran, of which no end says so: of a script, or a record of upkeep, which is known by its end alone. */
  const otherRuns = new Set<RunId>();
  const scripts = new Set<Workflow>();
  const workflows = new Map<string, Workflow>();
  const followers = new Map<RunId, RunFollower>();
  /** Lists are made one after the other; requests during one share the next, which sees everything that existed when they were made. */
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly PipelineStatus[]> | undefined;
  const shown = new Map<RunId, { readonly of: string; readonly status: PipelineStatus }>();

  async function logicalRunsIn(workflow: Workflow): Promise<readonly Found[]> {
    if (scripts.has(workflow)) return [];
    const files = new Map((await store.runs(workflow)).map((file) => [file.ref.run, file]));
    const known: FirstEvent[] = [];
    for (const file of files.values()) {
      const first = firstEvents.get(file.ref.run) ?? (await readFirstEvent(file));
      if (first) known.push(first);
      if (scripts.has(workflow)) return [];
    }
    return logicalRunsOf(known).map((logicalRun) => ({
      logicalRun,
      latest: files.get(logicalRun.segments.at(-1)?.ref.run as RunId) as RunFile,
      newest: known.at(-1)?.ref.run as RunId,
      fileOf: (run: RunId) => files.get(run),
    }));
  }

  async function readFirstEvent(file: RunFile): Promise<FirstEvent | undefined> {
    if (isRecordOfUpkeep(file)) return undefined; // no pipeline ran in it, also where its workflow is one
    const { ref, finished } = file;
    if (!otherRuns.has(ref.run)) {
      const started = await firstEvent(store, ref);
      if (started?.type !== 'run.started') return undefined; // killed before its first event, or damaged
      if (isPipelineRun(started)) {
        const first: FirstEvent = { ref, started };
        firstEvents.set(ref.run, first);
        return first;
      }
    }
    // A workflow is either a script or a pipeline: one run decides. In a store of a team anybody may have written that run, and it must
    // not hide those of a graph, so where the file has the name of one each run is looked at.
    if (finished && !ref.workflow.endsWith('.dot')) scripts.add(ref.workflow);
    else otherRuns.add(ref.run);
    return undefined;
  }

  async function followed(logicalRun: LogicalRun): Promise<FollowedRun> {
    let follower = followers.get(logicalRun.id);
    if (!follower || keyOf(follower.logicalRun) !== keyOf(logicalRun)) follower = followLogicalRun(store, logicalRun);
    followers.delete(logicalRun.id);
    followers.set(logicalRun.id, follower); // the latest is last
    const oldest = followers.size > FOLLOWED_MAX ? [...followers.keys()][0] : undefined;
    if (oldest !== undefined) followers.delete(oldest);
    return follower.current();
  }

  async function statusIn({ logicalRun, latest, fileOf }: Found): Promise<PipelineStatus> {
    const of = `${keyOf(logicalRun)} ${latest.bytes} ${latest.liveness} ${isOwn(logicalRun.id, latest.ref.run)}`;
    const known = shown.get(logicalRun.id);
    if (known?.of === of) return known.status;
    const isRunning = isLive(logicalRun.id, latest);
    const status = statusAtEnd(logicalRun, latest, isRunning, fileOf) ?? statusOf(logicalRun.id, await followed(logicalRun), isRunning);
    shown.set(logicalRun.id, { of, status });
    return status;
  }

  async function describe({ logicalRun, latest, newest }: Found): Promise<PipelineRun> {
    const now = await followed(logicalRun);
    const { state, questions, source } = now;
    const isRunning = isLive(logicalRun.id, latest);
    const status = statusOf(logicalRun.id, now, isRunning);
    return {
      logicalRun,
      latest,
      newest,
      questions,
      source,
      status,
      context: state.main.context,
      openQuestions: status.status === 'waiting' || status.status === 'interrupted' ? [...state.questions.values()] : [],
      checkpoint: () => checkpointOf(state),
      nodes: () => nodeStates(state, isRunning ? 'running' : latest.liveness),
    };
  }

  function isLive(id: RunId, { liveness, ref }: RunFile): boolean {
    return liveness === 'running' || isOwn(id, ref.run);
  }

  function listNow(): Promise<readonly PipelineStatus[]> {
    next = undefined;
    const listing = listAll();
    last = listing;
    return listing;
  }

  async function listAll(): Promise<readonly PipelineStatus[]> {
    const waiting = [...(await store.workflows())];
    const all: PipelineStatus[] = [];
    const work = async (): Promise<void> => {
      for (let workflow = waiting.pop(); workflow !== undefined; workflow = waiting.pop()) {
        for (const found of await logicalRunsIn(workflow)) all.push(await statusIn(found));
      }
    };
    await Promise.all(Array.from({ length: READERS }, work));
    return all.sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  return {
    list: () => (next ??= last.then(listNow, listNow)),
    async find(id) {
      if (!isRunId(id)) return undefined;
      const workflow = workflows.get(id) ?? (await store.find(id))?.workflow;
      if (workflow === undefined) return undefined;
      workflows.set(id, workflow);
      const found = (await logicalRunsIn(workflow)).find(({ logicalRun }) => logicalRun.segments.some(({ ref }) => ref.run === id));
      return found && describe(found);
    },
  };
}

function keyOf({ segments: stretches }: LogicalRun): string {
  return stretches.map(({ ref, until }) => `${ref.run}:${until ?? ''}`).join(' ');
}
