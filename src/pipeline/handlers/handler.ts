import type { StageOutcome } from '../model/outcome.js';
import type { Stage } from '../stage/stage.js';

/** Does the work of a node. It keeps nothing between calls; everything that reaches outside goes through the world of the stage's frame. */
export interface Handler {
  /**
   * Resolves with how the stage ended; with undefined when the handler has no verdict of its own, and the status file has to have one.
   * Throws a `StageError` for what failed; any other error counts as transient.
   */
  handle(stage: Stage): Promise<StageOutcome | undefined>;
  /** The stage calls a model: fidelity, thread and model settings are part of the visit's record. */
  readonly callsModel?: true;
  /** The outcome passes on the routing of the stage before. */
  readonly isTransparent?: true;
  /** `timeout` limits an attempt. Without this the attribute has no meaning, or one that the handler gives it. */
  readonly isTimed?: true;
  /** `timeout` limits each attempt of the call that the stage makes, which may have to wait before it starts. */
  readonly limitsItsCalls?: true;
  /** The stage ends soon after the stages inside it have: it needs no time of grace beside theirs. */
  readonly endsWithItsStages?: true;
  /** A program that the stage runs may leave a status file. */
  readonly mayReport?: true;
}

/** Handlers by type. */
export type Handlers = ReadonlyMap<string, Handler>;
