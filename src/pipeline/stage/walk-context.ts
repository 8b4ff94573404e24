/** Where a walk is: the main path, or a branch of a parallel node, and how it ended. */
import type { BranchRef } from '../../../journal/pipeline-event.js';
import type { Frame } from '../../runtime/frame.js';
import type { PipelineRuntime } from '../walk/pipeline-runtime.js';
import { outcomeOf, effectiveRouting, type StageOutcome } from '../model/outcome.js';
import type { CompiledEdge } from '../model/compiled-pipeline.js';
import { emptyWalk, type WalkView } from './state-view.js';

/** Of a branch; the main path has none. */
export interface BranchBounds {
  readonly branch: BranchRef;
  readonly entry: string;
  /** The edge to the entry. */
  readonly edge: CompiledEdge;
  /** The branch ends in front of these. */
  readonly ends: ReadonlySet<string>;
  /** The nodes whose branches it is within: it must not come back to them. */
  readonly within: ReadonlySet<string>;
}

export interface WalkContext {
  /** Of the walk: nodes are performed below it. */
  readonly frame: Frame;
  readonly signal: AbortSignal;
  /** Those around it, the main path first. */
  readonly walks: readonly WalkView[];
  readonly bounds?: BranchBounds;
}

export type WalkEnd = (
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'restarted'; readonly at: string }
) & { readonly walk: WalkView };

/** A branch on which nothing has happened stands where its parallel node does. */
export function walkOf({ ledger }: PipelineRuntime, { bounds, walks, frame }: WalkContext): WalkView {
  if (!bounds) return ledger.state.main;
  const outer = walks.at(-1) as WalkView; // a branch has a walk around it
  return outer.branches.get(bounds.branch.index) ?? emptyWalk({ path: frame.op.path, branch: bounds.branch, context: outer.context });
}

/** How a branch ended, for the results of its parallel node. */
export function branchOutcome(end: WalkEnd): StageOutcome {
  const last = end.walk.outcome ?? outcomeOf('success');
  if (end.kind !== 'completed') return { ...last, status: 'fail', failure_reason: end.kind === 'failed' ? end.reason : '' };
  return { ...last, ...effectiveRouting(last) };
}
