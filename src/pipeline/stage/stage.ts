/** Declares what a handler or a backend works with: one attempt of a node, and the services of the run that it belongs to. */
import type { Json } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { BranchRef } from '../../../journal/facts/pipeline-event.js';
import type { Frame } from '../../runtime/frame.js';
import type { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import type { Interviewer } from '../human/interviewer.js';
import type { CompiledPipeline } from '../model/compiled-pipeline.js';
import type { PromptHistory } from '../model/fidelity.js';
import type { GraphNode } from '../model/graph.js';
import type { Artifacts } from './artifacts.js';
import type { Backends } from './backend.js';
import type { CheckpointFile } from './checkpoint-file.js';
import type { ChildRequest, ChildRun } from './child-run.js';
import type { Ledger } from './state-ledger.js';
import type { RunFolder, StageFolder } from './run-folder.js';
import type { WalkView } from './state-view.js';
import type { BranchTurns, Threads } from './threads.js';
import type { WalkContext, WalkEnd } from './walk-context.js';

/** One attempt of one visit of a node. */
export interface Stage {
  readonly run: PipelineServices;
  readonly node: GraphNode;
  readonly visit: number;
  /** Counted from 1. */
  readonly attempt: number;
  /** The number of attempts of the visit before this one that a model has answered. */
  readonly answeredBefore: number;
  readonly branch: BranchRef | undefined;
  /** The node's path, `main/pump#0`. */
  readonly nodeOp: OpPath;
  /** Performs below the node's path: branches are parts of the visit. */
  readonly nodeFrame: Frame;
  /** Performs below the attempt's path; its effects end with the attempt's time. */
  readonly frame: Frame;
  readonly folder: StageFolder;
  readonly artifacts: Artifacts;
  /** The main path, then the branches around the node; the node is on the last of them. */
  readonly walks: readonly WalkView[];
  readonly promptHistory: PromptHistory;
  /** Aborted when the attempt's time is over, or its branch was cancelled. */
  readonly signal: AbortSignal;
  readonly context: WalkView['context'];
  /** Called when the model of the attempt has answered. */
  readonly answered: () => void;
  /** Walks a branch to its end. */
  readonly walkBranch: (branch: WalkContext) => Promise<WalkEnd>;
}

/** The services that all stages of a run share. */
export interface PipelineServices {
  readonly pipeline: CompiledPipeline;
  /** The frame of the whole run: nodes are performed below it. */
  readonly frame: Frame;
  /** Values of `--set` that the graph declares secret. Everything that a stage returns has marks in their places. */
  readonly secretSettings: SecretRegistry;
  readonly ledger: Ledger;
  readonly folder: RunFolder;
  readonly checkpoint: CheckpointFile;
  readonly interviewer: Interviewer;
  readonly threads: Threads;
  readonly turns: BranchTurns;
  /** The option `--backend`, which overrides the attributes. */
  readonly backend: string | undefined;
  /** Added by the embedding program. */
  readonly backends: Backends;
  /** The folder in which commands run. */
  readonly workingDirectory: string;
  /** The folder of the pipeline's file. */
  readonly fileDirectory: string;
  /** Resolves after `ms`, or when `signal` is aborted. */
  wait(wait: TimedWait, signal: AbortSignal): Promise<void>;
  /** Starts the pipeline of a file, or resumes the child that the same attempt started before a crash. Throws a `StageError`. */
  startChild(request: ChildRequest): Promise<ChildRun>;
  /** Finds a run that was started elsewhere. */
  findChild(runId: string): Promise<ChildRun | undefined>;
  /** Reads the payload of an artifact from the journal; undefined when it can no longer be read. */
  readArtifact(id: string): Promise<Json | undefined>;
  /** In a replay: the id under which the record has the next output of a node. Older programs named outputs in branches otherwise. */
  readonly recordedOutputId?: (nodeOp: OpPath, name: string) => string | undefined;
  /** Prints a line on stderr; the same line only once. */
  warnOnce(message: string): void;
}

export interface TimedWait {
  /** The time limit of an attempt, the grace after it, the delay before a retry, or the time that a person has to answer. */
  readonly until: 'limit' | 'unheeded' | 'retry' | 'late';
  /** The attempt that it is about, `main/pump#0/try#2`; for a retry the coming one. */
  readonly op: OpPath;
  readonly ms: number;
}
