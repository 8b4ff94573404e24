/** One run of a pipeline, as its parts see it. `run-graph.ts` fills the ports. */
import type { Json } from '../../../journal/event.js';
import type { GraphFact } from '../../../journal/pipeline-event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { Frame } from '../../runtime/frame.js';
import type { SecretRegistry } from '../../runtime/secret-registry.js';
import type { Backends } from '../backends/select-backend.js';
import type { CheckpointFile } from './checkpoint-file.js';
import type { Handlers } from '../handlers/handler.js';
import type { Interviewer } from '../human/interviewer.js';
import type { CompiledPipeline } from '../model/compiled-pipeline.js';
import type { RunFolder } from '../stage/run-folder.js';
import type { StateView } from '../stage/state-view.js';
import type { Threads } from '../stage/threads.js';
import type { WalkEnd, WalkContext } from '../stage/walk-context.js';

/** Records facts and keeps the state current; the state also goes on when the journal can't be written any more. */
export interface Ledger {
  readonly state: StateView;
  post(fact: GraphFact): void;
  /** Resolves when the fact is as durable as its type promises; the state has it by then. */
  append(fact: GraphFact): Promise<void>;
}

/** A run of another pipeline that a manager node watches. */
export interface ChildRun {
  readonly runId: string;
  /** What it is doing now. */
  observe(): Promise<ChildProgress>;
  /** Resolves when it has ended, in whatever way. */
  readonly ended: Promise<void>;
  /** Ends it in order. */
  interrupt(): void;
  /** The folder of the node that runs. */
  stageFolder(): Promise<string | undefined>;
}

export interface ChildRequest {
  readonly node: string;
  /** Of the attempt. */
  readonly op: OpPath;
  readonly file: string;
  readonly workingDirectory: string | undefined;
}

export interface ChildProgress {
  readonly status: 'running' | 'completed' | 'failed' | 'interrupted';
  readonly outcome: string;
  readonly currentNode: string;
  /** Nodes that have finished. */
  readonly completed: number;
  readonly retries: number;
  readonly error: string | undefined;
}

/** Why time has to pass: an attempt is over its limit or does not heed it, the next one is due, a person took too long to answer. */
export interface TimedWait {
  readonly until: 'limit' | 'unheeded' | 'retry' | 'late';
  /** Of the attempt that it is about, `main/pump#0/try#2`; of a retry that is the one to come. */
  readonly op: OpPath;
  readonly ms: number;
}

export interface PipelineRuntime {
  readonly pipeline: CompiledPipeline;
  /** Of the whole run; nodes are performed below it. */
  readonly frame: Frame;
  /** Values of `--set` that the graph declares secret: marks stand in their places in all that a stage gives back. */
  readonly secretSettings: SecretRegistry;
  readonly ledger: Ledger;
  readonly folder: RunFolder;
  readonly checkpoint: CheckpointFile;
  readonly handlers: Handlers;
  readonly interviewer: Interviewer;
  readonly threads: Threads;
  /** The traversal, for handlers that walk branches: they don't import it. */
  readonly walk: (run: PipelineRuntime, walking: WalkContext) => Promise<WalkEnd>;
  /** Of the command line: beats the attributes. */
  readonly backend: string | undefined;
  /** Of the embedding program. */
  readonly backends: Backends;
  /** Where commands run. */
  readonly workingDirectory: string;
  /** Where the pipeline's file is. */
  readonly fileDirectory: string;
  /** Uniform in [0, 1), for the jitter of waits. */
  readonly random: () => number;
  /** Resolves when the time is over, or `signal` was given. */
  wait(about: TimedWait, signal: AbortSignal): Promise<void>;
  /** Starts the pipeline of a file, or resumes the chain that this attempt started before a crash. Throws a `StageError`. */
  startChild(request: ChildRequest): Promise<ChildRun>;
  /** A run that somebody else started. */
  findChild(runId: string): Promise<ChildRun | undefined>;
  /** The payload of an artifact, from the journal. Undefined when it can't be read any more. */
  readArtifact(id: string): Promise<Json | undefined>;
  /** One line on stderr, the same one only once. */
  warnOnce(message: string): void;
}
