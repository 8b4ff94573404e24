/** Predicts the next nodes of a walk, as far as they are known before any of them has run. */
import { decideNext } from './decide.js';
import { returnsToGate } from './goal-gates.js';
import { outcomeOf, effectiveRouting, routingOf, INITIAL_ROUTING } from '../model/outcome.js';
import { callsModel, type CompiledPipeline, type CompiledEdge } from '../model/compiled-pipeline.js';
import type { StateView, WalkView } from '../stage/state-view.js';

export interface PlannedNode {
  readonly node: string;
  /** Counted from 0. */
  readonly visit: number;
  readonly handler: string;
  readonly callsModel: boolean;
  /** The entries of a parallel node's branches, without the branches that have ended. */
  readonly branches?: readonly string[];
}

export interface StepsAhead {
  readonly nodes: readonly PlannedNode[];
  /** The possible nodes after these, in the order of the edges; empty at the exit. */
  readonly afterwards: readonly string[];
}

/** A longer list would not help its reader. */
const NODES_MAX = 1_000;

/** @param continues a parallel node at `enterAt` that failed, or has an unmet gate in its branches, continues these */
export function stepsAhead(
  pipeline: CompiledPipeline,
  { main, results }: Pick<StateView, 'main' | 'results'>,
  enterAt: string | undefined,
  { continues }: { readonly continues: boolean },
): StepsAhead {
  const nodes: PlannedNode[] = [];
  const visits = new Map(main.visits);
  const seen = new Set<string>();
  let at: string | undefined = enterAt ?? firstOf(pipeline, main);
  while (at !== undefined && nodes.length < NODES_MAX) {
    const visit = visits.get(at) ?? 0;
    visits.set(at, visit + 1);
    nodes.push(plannedNode(pipeline, at, visit, nodes.length === 0 ? begunBranches(main, at, continues) : NONE, results));
    if (at === pipeline.exit) return { nodes, afterwards: [] };
    const ways: readonly string[] = waysFrom(pipeline, at);
    if (ways.length !== 1 || seen.has(at)) return { nodes, afterwards: ways };
    seen.add(at);
    at = ways[0];
  }
  return { nodes, afterwards: [] };
}

/** Returns the node that the record leads to; an edge that a crash lost is selected as it would have been. */
function firstOf(pipeline: CompiledPipeline, main: WalkView): string | undefined {
  const decision = decideNext(pipeline, main, pipeline.entry);
  if (decision.kind === 'go') return decision.to;
  return decision.kind === 'arrive' ? decision.node : undefined;
}

interface BegunBranches {
  readonly walks: WalkView['branches'];
  /** Their parallel node failed, so those that failed are entered again; or it did not, and those with an unmet gate are. */
  readonly of?: 'failed' | 'unmet-gate';
}

const NONE: BegunBranches = { walks: new Map() };

function begunBranches({ running, branches, failed }: WalkView, node: string, continues: boolean): BegunBranches {
  if (running?.node === node) return { walks: branches };
  const broken = continues ? failed.get(node) : undefined;
  return broken === undefined ? NONE : { walks: broken.branches, of: broken.context === undefined ? 'failed' : 'unmet-gate' };
}

function plannedNode(
  pipeline: CompiledPipeline,
  node: string,
  visit: number,
  begun: BegunBranches,
  results: StateView['results'],
): PlannedNode {
  const handler = pipeline.handlerOf(node);
  if (handler !== 'parallel') return { node, visit, handler, callsModel: callsModel(pipeline, node) };
  const { walks, of } = begun;
  const branches = pipeline.outgoing(node).flatMap(({ to }, index) => {
    const walk = walks.get(index);
    const end = branchEnd(pipeline, walk, to);
    const isEntered = of === 'unmet-gate' ? walk && returnsToGate(pipeline, results, walk) : of === 'failed' && end === 'failed';
    return end === undefined || isEntered ? [to] : [];
  });
  return { node, visit, handler, callsModel: false, branches };
}

/** Returns undefined for a branch that has not ended. */
function branchEnd(pipeline: CompiledPipeline, branch: WalkView | undefined, entry: string): 'ended' | 'failed' | undefined {
  if (!branch?.branch) return undefined;
  const decision = decideNext(pipeline, branch, entry);
  if (decision.kind === 'fail') return 'failed';
  const target = decision.kind === 'go' ? decision.to : decision.node;
  return decision.kind === 'end' || target === pipeline.exit || target === pipeline.joinOf(branch.branch.of) ? 'ended' : undefined;
}

/** Returns the targets of the edges that may be taken when the node succeeds: conditions on the outcome alone are decided by that. */
function waysFrom(pipeline: CompiledPipeline, node: string): readonly string[] {
  if (pipeline.handlerOf(node) === 'parallel') return [pipeline.joinOf(node)].filter((join) => join !== undefined);
  const edges = pipeline.outgoing(node);
  if (edges.some(({ condition }) => condition !== undefined) || mayName(pipeline, node)) {
    return [...new Set(edges.filter((edge) => !isForFailures(edge)).map(({ to }) => to))];
  }
  const outcome = outcomeOf('success', pipeline.handlerOf(node) === 'conditional' ? { carried: routingOf(INITIAL_ROUTING) } : {});
  const decision = decideNext(
    pipeline,
    {
      enterAt: undefined,
      running: undefined,
      next: undefined,
      context: {},
      current: node,
      outcome: { ...outcome, ...effectiveRouting(outcome) },
    },
    pipeline.entry,
  );
  return decision.kind === 'go' ? [decision.to] : [];
}

/** Returns true when the stage may name the edge to take, which needs more than one edge. */
function mayName(pipeline: CompiledPipeline, node: string): boolean {
  const handler = pipeline.handlerOf(node);
  return handler !== 'start' && pipeline.outgoing(node).length > 1;
}

function isForFailures({ condition }: CompiledEdge): boolean {
  return (
    condition?.clauses.some(
      ({ key, operator, literal }) => key.of === 'outcome' && (operator === '=' ? literal === 'fail' : literal === 'success'),
    ) === true
  );
}
