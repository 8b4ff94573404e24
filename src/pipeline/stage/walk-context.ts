/** Describes where a walk is, on the main path or on a branch of a parallel node, and how it ended. */
import type { BranchRef } from '../../../journal/facts/pipeline-event.js';
import type { Frame } from '../../runtime/frame.js';
import type { CompiledEdge } from '../model/compiled-pipeline.js';
import { effectiveRouting, outcomeOf, type StageOutcome } from '../model/outcome.js';
import type { Ledger } from './state-ledger.js';
import type { WalkView } from './state-view.js';

/** Confines a walk to a branch. */
export interface BranchBounds {
  readonly branch: BranchRef;
  readonly entry: string;
  /** The edge to the entry. */
  readonly edge: CompiledEdge;
  /** The branch ends before it enters one of these nodes. */
  readonly ends: ReadonlySet<string>;
  /** The parallel nodes around the branch: it must not return to them. */
  readonly within: ReadonlySet<string>;
}

export interface WalkContext {
  /** Nodes are performed below this frame. */
  readonly frame: Frame;
  readonly signal: AbortSignal;
  /** The walks around this one, the main path first. */
  readonly walks: readonly WalkView[];
  /** Undefined on the main path. */
  readonly bounds?: BranchBounds;
}

export type WalkEnd = (
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'restarted'; readonly at: string }
) & { readonly walk: WalkView };

/** Returns the recorded walk. A branch on which nothing has happened yet has the context of its parallel node. */
export function walkOf({ ledger }: { readonly ledger: Ledger }, { bounds, walks, frame }: WalkContext): WalkView {
  if (!bounds) return ledger.state.main;
  const outer = walks.at(-1) as WalkView; // a branch has a walk around it
  return outer.branches.get(bounds.branch.index) ?? ledger.emptyWalk(frame.op.path, outer.context, bounds.branch);
}

/** Turns the end of a branch into the outcome that its parallel node counts. */
export function branchOutcome(end: WalkEnd): StageOutcome {
  const last = end.walk.outcome ?? outcomeOf('success');
  if (end.kind !== 'completed') return { ...last, status: 'fail', failure_reason: end.kind === 'failed' ? end.reason : '' };
  return { ...last, ...effectiveRouting(last) };
}
