/** Which nodes a walk comes to next, as far as that is known before they have done their work. */
import { opPath } from '../../../journal/ids.js';
import { decide } from './decide.js';
import { outcomeOf, routed, routingOf, NOTHING_BEFORE } from '../model/outcome.js';
import type { Plan, PlannedEdge } from '../model/plan.js';
import { emptyWalk, type StateView, type WalkView } from './state.js';

export interface PlannedNode {
  readonly node: string;
  /** From 0. */
  readonly visit: number;
  readonly handler: string;
  readonly asksModel: boolean;
  /** Of a parallel node: where its branches begin, without those that have ended. */
  readonly branches?: readonly string[];
}

export interface StepsAhead {
  readonly nodes: readonly PlannedNode[];
  /** Where it may go from there, in the order of the edges; empty at the exit. */
  readonly afterwards: readonly string[];
}

/** Behind so many nodes a list says nothing any more. */
const NODES_MAX = 1_000;

export function stepsAhead(plan: Plan, { main }: Pick<StateView, 'main'>, enterAt: string | undefined): StepsAhead {
  const nodes: PlannedNode[] = [];
  const visits = new Map(main.visits);
  const seen = new Set<string>();
  let at: string | undefined = enterAt ?? firstOf(plan, main);
  while (at !== undefined && nodes.length < NODES_MAX) {
    const visit = visits.get(at) ?? 0;
    visits.set(at, visit + 1);
    nodes.push(plannedNode(plan, at, visit, nodes.length === 0 ? main : undefined));
    if (at === plan.exit) return { nodes, afterwards: [] };
    const ways: readonly string[] = waysFrom(plan, at);
    if (ways.length !== 1 || seen.has(at)) return { nodes, afterwards: ways };
    seen.add(at);
    at = ways[0];
  }
  return { nodes, afterwards: [] };
}

/** Where the record leads: the edge that was lost in a crash is chosen as it would have been. */
function firstOf(plan: Plan, main: WalkView): string | undefined {
  const decision = decide(plan, main, plan.entry);
  if (decision.kind === 'go') return decision.to;
  return decision.kind === 'arrive' ? decision.node : undefined;
}

function plannedNode(plan: Plan, node: string, visit: number, begun: WalkView | undefined): PlannedNode {
  const handler = plan.handlerOf(node);
  const asksModel = handler === 'codergen' || (handler === 'parallel.fan_in' && plan.node(node).attributes.has('prompt'));
  if (handler !== 'parallel') return { node, visit, handler, asksModel };
  const done = begun?.running?.node === node ? begun.branches : new Map<number, WalkView>();
  const branches = plan.outgoing(node).flatMap(({ to }, index) => (hasEnded(plan, done.get(index), to) ? [] : [to]));
  return { node, visit, handler, asksModel, branches };
}

function hasEnded(plan: Plan, branch: WalkView | undefined, entry: string): boolean {
  if (!branch?.branch) return false;
  const decision = decide(plan, branch, entry);
  if (decision.kind === 'end' || decision.kind === 'fail') return true;
  const target = decision.kind === 'go' ? decision.to : decision.node;
  return target === plan.exit || target === plan.joinOf(branch.branch.of);
}

/** Targets of the edges that may be taken when the node ends well; what a condition says of the outcome alone is known then. */
function waysFrom(plan: Plan, node: string): readonly string[] {
  if (plan.handlerOf(node) === 'parallel') return [plan.joinOf(node)].filter((join) => join !== undefined);
  const edges = plan.outgoing(node);
  if (edges.some(({ condition }) => condition !== undefined) || mayName(plan, node)) {
    return [...new Set(edges.filter((edge) => !isForFailures(edge)).map(({ to }) => to))];
  }
  const outcome = outcomeOf('success', plan.handlerOf(node) === 'conditional' ? { carried: routingOf(NOTHING_BEFORE) } : {});
  const decision = decide(
    plan,
    { ...emptyWalk({ path: opPath('main'), branch: undefined, context: {} }), current: node, outcome: { ...outcome, ...routed(outcome) } },
    plan.entry,
  );
  return decision.kind === 'go' ? [decision.to] : [];
}

/** A stage may name the edge that is taken, where there is one to choose. */
function mayName(plan: Plan, node: string): boolean {
  const handler = plan.handlerOf(node);
  return handler !== 'start' && plan.outgoing(node).length > 1;
}

function isForFailures({ condition }: PlannedEdge): boolean {
  return (
    condition?.clauses.some(
      ({ key, operator, literal }) => key.of === 'outcome' && (operator === '=' ? literal === 'fail' : literal === 'success'),
    ) === true
  );
}
