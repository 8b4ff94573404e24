/** What does the work of a node. A handler keeps nothing between calls; all that reaches outside goes through the world of its frame. */
import type { OpPath } from '../../../journal/ids.js';
import type { BranchRef } from '../../../journal/pipeline-event.js';
import type { Frame } from '../../runtime/frame.js';
import type { Artifacts } from '../stage/artifacts.js';
import type { PromptHistory } from '../model/fidelity.js';
import type { PipelineRuntime } from '../walk/pipeline-runtime.js';
import type { GraphNode } from '../model/graph.js';
import type { StageOutcome } from '../model/outcome.js';
import type { StageFolder } from '../stage/run-folder.js';
import type { WalkView } from '../stage/state-view.js';

/** One attempt of one visit. */
export interface Stage {
  readonly run: PipelineRuntime;
  readonly node: GraphNode;
  readonly visit: number;
  /** From 1. */
  readonly attempt: number;
  readonly branch: BranchRef | undefined;
  /** The node's path, `main/pump#0`. */
  readonly nodeOp: OpPath;
  /** Performs below the node's path: branches are parts of the visit. */
  readonly nodeFrame: Frame;
  /** Performs below the attempt's path; its world ends with the attempt's time. */
  readonly frame: Frame;
  readonly folder: StageFolder;
  readonly artifacts: Artifacts;
  /** The walk that the node is on, last of those around it; the first is the main path. */
  readonly walks: readonly WalkView[];
  readonly promptHistory: PromptHistory;
  /** Aborted when the attempt's time is up, or its branch is called off. */
  readonly signal: AbortSignal;
  readonly context: WalkView['context'];
}

export interface Handler {
  /**
   * How the stage ended. Undefined: nothing was reported. Throws a `StageError` for what broke; anything else thrown is taken for a
   * transient error.
   */
  handle(stage: Stage): Promise<StageOutcome | undefined>;
  /** A model answers: fidelity, thread and model are part of the visit's record. */
  readonly callsModel?: true;
  /** The outcome hands on the routing part of the stage before. */
  readonly isTransparent?: true;
  /** `timeout` limits an attempt. Otherwise it means nothing, or something of the handler's own. */
  readonly isTimed?: true;
  /** A program may leave a status file. */
  readonly mayReport?: true;
}

/** By type. */
export type Handlers = ReadonlyMap<string, Handler>;
