/** Predicts the next nodes of a walk, as far as they are known before any of them has run. */
import type { OpPath } from '../../../journal/ids.js';
import { decideNext } from './decide.js';
import { nodeOfGate, waitsForAll } from './goal-gates.js';
import { outcomeOf, effectiveRouting, routingOf, INITIAL_ROUTING } from '../model/outcome.js';
import { callsModel, type CompiledPipeline, type CompiledEdge } from '../model/compiled-pipeline.js';
import type { StateView, WalkView } from '../stage/state-view.js';

export interface PlannedNode {
  readonly node: string;
  /** Counted from 0. */
  readonly visit: number;
  /** The path under which the record has what the visit, or the one that it repeats, had received. */
  readonly op: OpPath;
  readonly handler: string;
  readonly callsModel: boolean;
  /** A parallel node has these, without those that have ended. */
  readonly branches?: readonly PlannedBranch[];
  /** A parallel node whose branches may be called off by others. */
  readonly callsOff?: true;
}

export interface StepsAhead {
  readonly nodes: readonly PlannedNode[];
  /** The possible nodes after these, in the order of the edges; empty at the end of the walk. */
  readonly afterwards: readonly string[];
}

/** A branch, up to the join of its parallel node. */
export interface PlannedBranch extends StepsAhead {
  /** Its first node. */
  readonly branch: string;
  /** It had begun in an earlier run. */
  readonly isContinued: boolean;
}

/** A longer list would not help its reader. */
const NODES_MAX = 1_000;

interface Planning {
  readonly pipeline: CompiledPipeline;
  readonly results: StateView['results'];
  /** The number of nodes that may still be listed. */
  left: number;
}

/** @param continues a parallel node at `enterAt` that failed, or has an unmet gate in its branches, continues these */
export function stepsAhead(
  pipeline: CompiledPipeline,
  { main, results }: Pick<StateView, 'main' | 'results'>,
  enterAt: string | undefined,
  { continues }: { readonly continues: boolean },
): StepsAhead {
  const planning = { pipeline, results, left: NODES_MAX };
  return follow(planning, { walk: main, path: main.path, at: enterAt ?? firstOf(pipeline, main), continues, around: new Map() });
}

interface Following {
  /** Holds what has happened on it; undefined for a branch that has not begun. */
  readonly walk: WalkView | undefined;
  readonly path: string;
  /** The first node. */
  readonly at: string | undefined;
  readonly continues: boolean;
  /** The parallel nodes around the walk, with their joins. */
  readonly around: ReadonlyMap<string, string | undefined>;
}

function follow(planning: Planning, { walk, path, at: first, continues, around }: Following): StepsAhead {
  const { pipeline } = planning;
  const nodes: PlannedNode[] = [];
  const visits = new Map(walk?.visits);
  const seen = new Set<string>();
  const isBranch = around.size > 0;
  // A branch that was cut off is entered again at the node that it was in, as a new visit.
  if (isBranch && continues && walk?.running) visits.set(walk.running.node, walk.running.visit + 1);
  let at = first;
  while (at !== undefined) {
    if (isBranch && (at === pipeline.exit || [...around.values()].includes(at))) return { nodes, afterwards: [] };
    if (planning.left-- <= 0) return { nodes, afterwards: [at] };
    const before = nodes.length === 0 ? walk : undefined;
    const visit = visits.get(at) ?? 0;
    visits.set(at, visit + 1);
    nodes.push(plannedNode(planning, { node: at, visit, walk: before, path, continues, around }));
    if (at === pipeline.exit) return { nodes, afterwards: [] };
    const ways: readonly string[] = waysFrom(pipeline, at);
    if (ways.length !== 1 || seen.has(at)) return { nodes, afterwards: ways };
    seen.add(at);
    at = ways[0];
  }
  return { nodes, afterwards: [] };
}

/** Returns the node that the record leads to; an edge that a crash lost is selected as it would have been. */
function firstOf(pipeline: CompiledPipeline, walk: WalkView, entry = pipeline.entry): string | undefined {
  const decision = decideNext(pipeline, walk, entry);
  if (decision.kind === 'go') return decision.to;
  return decision.kind === 'arrive' ? decision.node : undefined;
}

interface BegunBranches {
  readonly walks: WalkView['branches'];
  /** Their parallel node failed, so those that failed are entered again; or it did not, and those with an unmet gate are. */
  readonly of?: 'failed' | 'unmet-gate';
}

const NONE: BegunBranches = { walks: new Map() };

function begunBranches({ running, branches, failed }: WalkView, node: string, continues: boolean, isInside: boolean): BegunBranches {
  if (running?.node === node) return { walks: branches, ...(continues && isInside && { of: 'failed' }) };
  const broken = continues ? failed.get(node) : undefined;
  return broken === undefined ? NONE : { walks: broken.branches, of: broken.context === undefined ? 'failed' : 'unmet-gate' };
}

interface Reaching extends Omit<Following, 'at'>, Pick<PlannedNode, 'node' | 'visit'> {}

function plannedNode(planning: Planning, { node, visit, walk, path, continues, around }: Reaching): PlannedNode {
  const { pipeline } = planning;
  const handler = pipeline.handlerOf(node);
  const own = `${path}/${node}#${visit}` as OpPath;
  const op = walk?.running?.node === node ? walk.running.op : own;
  if (handler !== 'parallel') return { node, visit, op, handler, callsModel: callsModel(pipeline, node) };
  const { walks, of } = walk ? begunBranches(walk, node, continues, around.size > 0) : NONE;
  const inside = new Map(around).set(node, pipeline.joinOf(node));
  // A way back to a parallel node around leads into it again, as often as only the run knows.
  const targets = around.has(node) ? [] : pipeline.outgoing(node);
  const branches = targets.flatMap(({ to }, index): PlannedBranch[] => {
    const branch = walks.get(index);
    const at = branch ? entryOf(planning, branch, to, of) : to;
    if (at === undefined) return [];
    const from = { walk: branch, path: `${own}[${index}]`, at, continues: of !== undefined, around: inside };
    return [{ branch: to, isContinued: branch !== undefined, ...follow(planning, from) }];
  });
  return { node, visit, op, handler, callsModel: false, branches, ...(!waitsForAll(pipeline, node) && { callsOff: true }) };
}

/** Returns the node at which a branch that has begun goes on; undefined for one that has ended and is kept. */
function entryOf({ pipeline, results }: Planning, branch: WalkView, to: string, of: BegunBranches['of']): string | undefined {
  const end = branchEnd(pipeline, branch, to);
  if (of === 'unmet-gate') {
    const gate = nodeOfGate(pipeline, results, branch);
    if (gate !== undefined) return gate;
  }
  if (of === 'failed' && end === 'failed') return branch.history.findLast(({ outcome }) => outcome === 'fail')?.node_id ?? branch.current;
  return end === undefined ? firstOf(pipeline, branch, to) : undefined;
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
