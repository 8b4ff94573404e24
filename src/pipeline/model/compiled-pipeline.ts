/** Compiles a graph for walking: conditions are parsed, handlers resolved, edges indexed by their source. */
import type { Condition } from '../../../grammar/dot-ast.js';
import { parseCondition } from '../../../grammar/parse-dot.js';
import { joinsOf, type Joins } from './joins.js';
import { conditionOf, edgeAttribute, graphAttribute, nodeAttribute, type Graph, type GraphNode } from './graph.js';
import { sharedNodes } from './shared-nodes.js';
import { entriesOf, exitsOf, handlerTypeOf } from './shapes.js';

/** The properties by which a walk selects an edge. */
export interface SelectableEdge {
  readonly to: string;
  readonly label: string;
  /** Undefined for a plain edge. */
  readonly condition: Condition | undefined;
  readonly weight: number;
}

export interface CompiledEdge extends SelectableEdge {
  readonly from: string;
  /** The text of the condition, for the journal. */
  readonly conditionText: string | undefined;
  readonly fidelity: string | undefined;
  readonly thread: string | undefined;
  readonly restarts: boolean;
}

export interface CompiledPipeline {
  readonly graph: Graph;
  readonly goal: string;
  readonly entry: string;
  readonly exit: string;
  /** The ids of goal gates, in the order of the file. */
  readonly gates: readonly string[];
  readonly jumpsMax: number;
  readonly stepsMax: number;
  node(id: string): GraphNode;
  has(id: string): boolean;
  handlerOf(id: string): string;
  outgoing(id: string): readonly CompiledEdge[];
  /** Returns the names of the branches of a parallel node, in the order of its edges: their targets, a repeated one with a number. */
  branchesOf(parallel: string): readonly string[];
  /** Returns the node that follows a parallel node: the fan-in of its branches, else the exit when one of them can reach it. */
  joinOf(parallel: string): string | undefined;
  /** Returns true for a node to which more than one branch of the parallel node can come. */
  isShared(parallel: string, node: string): boolean;
}

const JUMPS_MAX = 100;
const STEPS_MAX = 100_000;

/**
 * Throws for a graph without entry or exit: lint it first.
 *
 * @param handlers types that the embedding program has added
 */
export function compilePipeline(graph: Graph, handlers: ReadonlySet<string>): CompiledPipeline {
  const types = new Map([...graph.nodes.values()].map((node) => [node.id, handlerTypeOf(node, handlers)]));
  const edges = new Map([...graph.nodes.keys()].map((id) => [id, graph.outgoing(id).map(compiledEdge)]));
  let joins: Joins | undefined;
  const known = <T>(found: T | undefined, id: string): T => {
    if (found === undefined) throw new Error(`the graph ${graph.name} has no node ${id}`);
    return found;
  };
  const shared = new Map<string, ReadonlySet<string>>();
  const pipeline: CompiledPipeline = {
    graph,
    goal: graphAttribute(graph, 'goal') ?? '',
    entry: known(entriesOf(graph)[0], 'entry').id,
    exit: known(exitsOf(graph)[0], 'exit').id,
    gates: [...graph.nodes.values()].filter((node) => nodeAttribute(node, 'goal_gate') === true).map(({ id }) => id),
    jumpsMax: graphAttribute(graph, 'max_jumps') ?? JUMPS_MAX,
    stepsMax: graphAttribute(graph, 'max_steps') ?? STEPS_MAX,
    node: (id) => known(graph.nodes.get(id), id),
    has: (id) => graph.nodes.has(id),
    handlerOf: (id) => known(types.get(id), id),
    outgoing: (id) => known(edges.get(id), id),
    branchesOf: (id) => branchIds(known(edges.get(id), id)),
    joinOf: (parallel) => [...((joins ??= joinsOf(graph, handlers)).get(parallel) ?? [])][0],
    isShared(parallel, node) {
      const found = shared.get(parallel) ?? sharedNodes(pipeline, parallel);
      shared.set(parallel, found);
      return found.has(node);
    },
  };
  return pipeline;
}

function branchIds(edges: readonly CompiledEdge[]): readonly string[] {
  const seen = new Map<string, number>();
  return edges.map(({ to }) => {
    const number = (seen.get(to) ?? 0) + 1;
    seen.set(to, number);
    return number === 1 ? to : `${to}#${number}`;
  });
}

function compiledEdge(edge: Graph['edges'][number]): CompiledEdge {
  const conditionText = conditionOf(edge);
  const condition: Condition | undefined = conditionText === undefined ? undefined : parseCondition(conditionText);
  return {
    from: edge.from,
    to: edge.to,
    label: edgeAttribute(edge, 'label') ?? '',
    condition,
    conditionText,
    weight: edgeAttribute(edge, 'weight') ?? 0,
    fidelity: edgeAttribute(edge, 'fidelity'),
    thread: edgeAttribute(edge, 'thread_id'),
    restarts: edgeAttribute(edge, 'loop_restart') === true,
  };
}

/** Returns true for a node that calls a model: a model stage, and a fan-in with a prompt. */
export function callsModel({ handlerOf, node }: CompiledPipeline, id: string): boolean {
  const handler = handlerOf(id);
  return handler === 'codergen' || (handler === 'parallel.fan_in' && node(id).attributes.has('prompt'));
}
