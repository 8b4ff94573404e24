/** Every pipeline run of a project as its journals tell it, whoever runs or ran it. For programs that live long: what doesn't change is read once. */
import type { Json } from '../../../../journal/event.js';
import { isRunId, type RunId, type Workflow } from '../../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../../journal/store.js';
import { checkpointOf, type Checkpoint } from '../../../../replay/pipeline/checkpoint-view.js';
import { isGraphRun, type OpenQuestion } from '../../../../replay/pipeline/graph-state.js';
import { firstEvent } from './chain.js';
import { followLogicalRun, type FollowedRun, type RunFollower } from './follow-run.js';
import { logicalRunsOf, type FirstEvent, type LogicalRun } from './logical-run.js';
import { nodeStates } from './node-states.js';
import { statusAtEnd, statusOf, type PipelineStatus } from './pipeline-status.js';

/** As it was when it was asked for: to be looked at without waiting in between. */
export interface PipelineRun extends Pick<FollowedRun, 'questions' | 'source'> {
  readonly logicalRun: LogicalRun;
  /** The last of the line. */
  readonly latest: RunFile;
  readonly status: PipelineStatus;
  readonly context: { readonly [key: string]: Json };
  /** Those that somebody waits for; of an interrupted run those that it had asked and will ask again. */
  readonly openQuestions: readonly OpenQuestion[];
  checkpoint(): Checkpoint;
  nodes(): ReturnType<typeof nodeStates>;
}

export interface PipelineRuns {
  /** Newest first. */
  list(): Promise<readonly PipelineStatus[]>;
  /** By the id of the first run of its line, or of another one in it. */
  find(id: string): Promise<PipelineRun | undefined>;
}

/** States are held of so many; of all others only what the list shows. */
const FOLLOWED_MAX = 32;
/** Workflows that are looked into at a time. */
const READERS = 8;

/** `isOwn`: the line is being run by this process, also between two of its runs. */
export function createPipelineRuns(store: JournalStore, isOwn: (id: RunId) => boolean): PipelineRuns {
  const heads = new Map<RunId, FirstEvent>();
  const scripts = new Set<Workflow>();
  const workflows = new Map<string, Workflow>();
  const followers = new Map<RunId, RunFollower>();
  /** One list at a time; who asks meanwhile shares the next, which knows all that was there when it was asked for. */
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly PipelineStatus[]> | undefined;
  const shown = new Map<RunId, { readonly of: string; readonly status: PipelineStatus }>();

  async function linesIn(workflow: Workflow): Promise<readonly { readonly line: LogicalRun; readonly latest: RunFile }[]> {
    if (scripts.has(workflow)) return [];
    const files = new Map((await store.runs(workflow)).map((file) => [file.ref.run, file]));
    const known: FirstEvent[] = [];
    for (const { ref } of files.values()) {
      const head = heads.get(ref.run) ?? (await readHead(ref));
      if (head) known.push(head);
      // A file holds a script or a pipeline: one look tells.
      if (scripts.has(workflow)) return [];
    }
    return logicalRunsOf(known).map((line) => ({ line, latest: files.get(line.segments.at(-1)?.ref.run as RunId) as RunFile }));
  }

  async function readHead(ref: FirstEvent['ref']): Promise<FirstEvent | undefined> {
    const started = await firstEvent(store, ref);
    if (started?.type !== 'run.started') return undefined; // killed before it had one, or damaged
    if (!isGraphRun(started)) return void scripts.add(ref.workflow);
    const head: FirstEvent = { ref, started };
    heads.set(ref.run, head);
    return head;
  }

  async function followed(line: LogicalRun): Promise<FollowedRun> {
    let follower = followers.get(line.id);
    if (!follower || keyOf(follower.logicalRun) !== keyOf(line)) follower = followLogicalRun(store, line);
    followers.delete(line.id);
    followers.set(line.id, follower); // the youngest stands last
    const oldest = followers.size > FOLLOWED_MAX ? [...followers.keys()][0] : undefined;
    if (oldest !== undefined) followers.delete(oldest);
    return follower.current();
  }

  async function statusIn({ line, latest }: { readonly line: LogicalRun; readonly latest: RunFile }): Promise<PipelineStatus> {
    const of = `${keyOf(line)} ${latest.bytes} ${latest.liveness} ${isOwn(line.id)}`;
    const known = shown.get(line.id);
    if (known?.of === of) return known.status;
    const goes = isGoing(line.id, latest);
    const status = statusAtEnd(line, latest, goes) ?? statusOf(line.id, await followed(line), goes);
    shown.set(line.id, { of, status });
    return status;
  }

  async function describe({ line, latest }: { readonly line: LogicalRun; readonly latest: RunFile }): Promise<PipelineRun> {
    const now = await followed(line);
    const { state, questions, source } = now;
    const goes = isGoing(line.id, latest);
    const status = statusOf(line.id, now, goes);
    return {
      logicalRun: line,
      latest,
      questions,
      source,
      status,
      context: state.main.context,
      openQuestions: status.status === 'waiting' || status.status === 'interrupted' ? [...state.questions.values()] : [],
      checkpoint: () => checkpointOf(state),
      nodes: () => nodeStates(state, goes ? 'running' : latest.liveness),
    };
  }

  function isGoing(id: RunId, { liveness }: RunFile): boolean {
    return liveness === 'running' || isOwn(id);
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
        for (const found of await linesIn(workflow)) all.push(await statusIn(found));
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
      const found = (await linesIn(workflow)).find(({ line }) => line.segments.some(({ ref }) => ref.run === id));
      return found && describe(found);
    },
  };
}

function keyOf({ segments: stretches }: LogicalRun): string {
  return stretches.map(({ ref, until }) => `${ref.run}:${until ?? ''}`).join(' ');
}
