/**
 * Decides the next step of a walk from the recorded state alone. A resume decides from the same record, so it repeats the decision that a
 * crash lost. graph-pipelines.md 6.2, 6.5, 10.3.
 */
import type { EdgeVia } from '../../../journal/facts/pipeline-event.js';
import { nodeAttribute } from '../model/graph.js';
import { effectiveRouting } from '../model/outcome.js';
import type { CompiledPipeline, CompiledEdge } from '../model/compiled-pipeline.js';
import { selectAfterFailure, selectEdge } from './select-edge.js';
import type { WalkView } from '../stage/state-view.js';

export type Decision =
  | { readonly kind: 'arrive'; readonly node: string }
  | { readonly kind: 'go'; readonly from: string; readonly to: string; readonly via: EdgeVia; readonly edge?: CompiledEdge }
  /** The edge ends this run; a new run starts at the node. */
  | { readonly kind: 'restart'; readonly node: string }
  | { readonly kind: 'fail'; readonly node: string; readonly reason: string }
  /** The exit is finished. */
  | { readonly kind: 'done'; readonly node: string }
  /** Nothing failed, but no edge is eligible. */
  | { readonly kind: 'end'; readonly node: string };

/** The part of a walk that decides its next step. */
type WalkPosition = Pick<WalkView, 'enterAt' | 'running' | 'next' | 'current' | 'outcome' | 'context'>;

/** @param entry the node where the walk starts while nothing has happened on it */
export function decideNext(pipeline: CompiledPipeline, walk: WalkPosition, entry: string): Decision {
  if (walk.enterAt !== undefined) return { kind: 'arrive', node: walk.enterAt };
  if (walk.running) return { kind: 'arrive', node: walk.running.node };
  if (walk.next && stillExists(pipeline, walk.next))
    return { kind: restarts(pipeline, walk.next) ? 'restart' : 'arrive', node: walk.next.to };
  if (walk.current === undefined || !walk.outcome) return { kind: 'arrive', node: entry };
  return leave(pipeline, walk.current, walk.outcome, walk);
}

/** Returns false when an edit of the graph has removed the edge of the recorded transition. */
function stillExists(pipeline: CompiledPipeline, { from, to, via }: NonNullable<WalkView['next']>): boolean {
  if (!followsEdge(via) || !pipeline.has(from)) return pipeline.has(to);
  return pipeline.outgoing(from).some((edge) => edge.to === to);
}

function restarts(pipeline: CompiledPipeline, { from, to, via, label, condition }: NonNullable<WalkView['next']>): boolean {
  if (!followsEdge(via) || !pipeline.has(from)) return false;
  const taken = pipeline.outgoing(from).find((edge) => edge.to === to && edge.conditionText === condition && edge.label === (label ?? ''));
  return taken?.restarts === true;
}

/** Returns false for jumps and joins, which follow no edge. */
function followsEdge(via: EdgeVia): boolean {
  return via !== 'gate' && via !== 'join' && via !== 'retry_target' && via !== 'fallback_retry_target';
}

function leave(pipeline: CompiledPipeline, node: string, outcome: NonNullable<WalkView['outcome']>, { context }: WalkPosition): Decision {
  if (node === pipeline.exit) return { kind: 'done', node };
  const routing = effectiveRouting(outcome);
  if (pipeline.handlerOf(node) === 'parallel') {
    if (routing.status === 'fail') return jump(pipeline, node) ?? { kind: 'fail', node, reason: routing.failure_reason };
    const join = pipeline.joinOf(node);
    return join === undefined ? { kind: 'end', node } : { kind: 'go', from: node, to: join, via: 'join' };
  }
  const edges = pipeline.outgoing(node);
  const failed = routing.status === 'fail';
  const chosen =
    failed && !outcome.carried
      ? selectAfterFailure(edges, { routing, context }, ({ to }) => pipeline.has(to) && pipeline.handlerOf(to) === 'conditional')
      : selectEdge(edges, { routing, context });
  if (chosen) return { kind: 'go', from: node, to: chosen.edge.to, via: chosen.via, edge: chosen.edge };
  if (!failed) return { kind: 'end', node };
  const target = outcome.carried ? undefined : jump(pipeline, node);
  return target ?? { kind: 'fail', node, reason: routing.failure_reason };
}

function jump(pipeline: CompiledPipeline, from: string): Decision | undefined {
  for (const via of ['retry_target', 'fallback_retry_target'] as const) {
    const to = nodeAttribute(pipeline.node(from), via);
    if (to !== undefined && pipeline.has(to)) return { kind: 'go', from, to, via };
  }
  return undefined;
}
