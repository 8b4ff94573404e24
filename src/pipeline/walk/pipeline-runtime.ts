import type { Handlers } from '../handlers/handler.js';
import type { PipelineServices } from '../stage/stage.js';
import type { WalkContext, WalkEnd } from '../stage/walk-context.js';

/** All that walking a pipeline needs. A session fills it in for a run, and for a replay with ports that repeat the record. */
export interface PipelineRuntime extends PipelineServices {
  readonly handlers: Handlers;
  /** The traversal, handed in because handlers walk branches and the traversal calls handlers. */
  readonly walk: (run: PipelineRuntime, walking: WalkContext) => Promise<WalkEnd>;
  /** Returns a number in [0, 1), for the jitter of delays. */
  readonly random: () => number;
}
