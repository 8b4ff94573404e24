/** Builds what a walk works with: its ledger, folder, checkpoint file, stages, people and models. */
import path from 'node:path';
import type { CallKey } from '../../../journal/ids.js';
import type { Json } from '../../../journal/event.js';
import type { JournalStore } from '../../../journal/store.js';
import { checkpointOf } from '../../../replay/pipeline/checkpoint-view.js';
import type { PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { messageOf } from '../../errors.js';
import { handlersWith } from '../../pipeline/handlers/built-in.js';
import { createCheckpointFile, type CheckpointFile } from '../../pipeline/stage/checkpoint-file.js';
import type { CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import type { PipelineRuntime } from '../../pipeline/walk/pipeline-runtime.js';
import { createRunFolder, type RunFolder } from '../../pipeline/stage/run-folder.js';
import { createThreads } from '../../pipeline/stage/threads.js';
import { createBranchTurns } from '../../pipeline/walk/branch-turns.js';
import { traverse } from '../../pipeline/walk/traverse.js';
import type { Frame } from '../../runtime/frame.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import type { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { randomFraction } from '../../world/host.js';
import type { World } from '../../world/world.js';
import { baseFolder } from '../project.js';
import type { OpenedJournal } from '../ports/opened-journal.js';
import { childRuns } from './child-runs.js';
import { interviewerFor } from './interviewers.js';
import type { StateKeeper } from './state-keeper.js';
import type { PipelineReport, PipelineRunOptions } from './run-pipeline-options.js';

interface RuntimeParts {
  readonly options: PipelineRunOptions;
  readonly pipeline: CompiledPipeline;
  readonly store: JournalStore;
  readonly world: World;
  readonly frame: Frame;
  readonly calls: CallRuntime;
  readonly journal: OpenedJournal;
  readonly keeper: StateKeeper;
  readonly ledger: PipelineRuntime['ledger'];
  readonly folder: RunFolder;
  readonly checkpoint: CheckpointFile;
  readonly secretSettings: SecretRegistry;
  /** Conversations of the resumed run, by thread: their turns are not known any more. */
  readonly lostThreads: ReadonlySet<string>;
  readonly warnOnce: (message: string) => void;
  /** Handed in for child pipelines, because the owner of runs is not imported back. */
  readonly runPipeline: (options: PipelineRunOptions) => Promise<PipelineReport>;
  readonly onChildEnded: (report: PipelineReport) => void;
}

export function createPipelineRuntime({
  options,
  pipeline,
  store,
  world,
  journal,
  keeper,
  calls,
  lostThreads,
  runPipeline,
  onChildEnded,
  ...parts
}: RuntimeParts): PipelineRuntime {
  const wait = async (ms: number, signal: AbortSignal): Promise<void> => void (await world.perform('clock.sleep', { ms }, { signal }));
  return {
    ...parts,
    pipeline,
    handlers: handlersWith(options.handlers ?? new Map()),
    interviewer: interviewerFor(options, world, parts.folder.path),
    threads: createThreads(lostThreads),
    turns: createBranchTurns(pipeline),
    walk: traverse,
    backend: options.backend,
    backends: options.backends ?? new Map(),
    workingDirectory: options.workingDirectory,
    fileDirectory: baseFolder(options.project, options.file),
    random: randomFraction,
    wait: ({ ms }, signal) => wait(ms, signal),
    ...childRuns({
      options,
      store,
      trace: journal.trace,
      runGraph: runPipeline,
      stateOf: () => keeper.state,
      dispatcher: calls.dispatcher,
      wait,
      onEnded: onChildEnded,
    }),
    readArtifact: async (id) => {
      await journal.flush();
      return readArtifact(store, keeper.state, id);
    },
  };
}

/** Undefined when there is no such artifact, or its event or payload can't be read. */
async function readArtifact(store: JournalStore, { artifacts }: PipelineState, id: string): Promise<Json | undefined> {
  const found = artifacts.get(id);
  const event = found && (await store.readAt(found.ref, found.position));
  return event?.type === 'artifact.stored' && event.id === id ? store.resolve(event.payload) : undefined;
}

/** A folder that the engine chose holds files of this run alone. */
export function openRunFolder({ project }: PipelineRunOptions, runDir: string, world: World, secretSettings: SecretRegistry): RunFolder {
  const runDirectory = path.resolve(project.root, runDir);
  const isOwn = runDirectory.startsWith(path.join(project.root, '.mlld', 'graph') + path.sep);
  return createRunFolder(runDirectory, world, { isOwn, hide: (written) => secretSettings.redact(written) });
}

/** `checkpoint.json` is written only after what it shows has reached the kernel. */
export function openCheckpointFile(
  { io, onCheckpoint }: PipelineRunOptions,
  { folder, world, keeper, journal, calls, warnOnce }: Pick<RuntimeParts, 'folder' | 'world' | 'keeper' | 'journal' | 'calls' | 'warnOnce'>,
): CheckpointFile {
  return createCheckpointFile({
    path: path.join(folder.path, 'checkpoint.json'),
    world,
    render: () => `${JSON.stringify(checkpointOf(keeper.state), undefined, 2)}\n`,
    recorded: journal.flush,
    isTaken: () => calls.dispatcher.stoppedBy?.endsRun === true,
    monotonicMs: io.monotonicMs,
    onTrouble: (error) => warnOnce(`checkpoint.json can't be written: ${messageOf(error)}`),
    onWritten: onCheckpoint,
  });
}

/**
 * Limits reuse without `--checkpoint` and `--fork`: then only the attempt that a crash cut short gets its recorded reply,
 * and calls that are made again because what followed from them is lost (`replies`). Every result is recorded.
 */
export function limitReuse(
  cache: ResultCache,
  { checkpoint, forks = [] }: PipelineRunOptions,
  state: PipelineState,
  replies: ReadonlySet<CallKey> = new Set(),
): ResultCache {
  if (checkpoint || forks.length > 0) return cache;
  return {
    ...cache,
    policy: () => ({ records: true, reuses: true }),
    lookup: async (call) => {
      const mayReuse = replies.has(call.key) || [...state.received.values()].some(({ reply }) => reply === call.key);
      return mayReuse ? cache.lookup(call) : undefined;
    },
  };
}
