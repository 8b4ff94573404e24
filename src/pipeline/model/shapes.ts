/** Resolves the handler of a node from its type and shape. */
import { nodeAttribute, type Graph, type GraphNode } from './graph.js';

/** The shape of a node that sets none. */
const DEFAULT_SHAPE = 'box';
const DEFAULT_HANDLER = 'codergen';

const HANDLERS = {
  Mdiamond: 'start',
  Msquare: 'exit',
  box: 'codergen',
  hexagon: 'wait.human',
  diamond: 'conditional',
  component: 'parallel',
  tripleoctagon: 'parallel.fan_in',
  parallelogram: 'tool',
  house: 'stack.manager_loop',
} as const;

export const SHAPES: readonly string[] = Object.keys(HANDLERS);
export const BUILT_IN_HANDLERS: ReadonlySet<string> = new Set<string>(Object.values(HANDLERS));

export function shapeOf(node: GraphNode): string {
  return nodeAttribute(node, 'shape') || DEFAULT_SHAPE;
}

/**
 * Resolves by a known `type`, else by the shape, else to a model stage.
 *
 * @param registered types that the embedding program has added
 */
export function handlerTypeOf(node: GraphNode, registered: ReadonlySet<string> = new Set()): string {
  const type = nodeAttribute(node, 'type') ?? '';
  if (BUILT_IN_HANDLERS.has(type) || registered.has(type)) return type;
  const byShape: { readonly [shape: string]: string } = HANDLERS;
  const shape = shapeOf(node);
  return Object.hasOwn(byShape, shape) ? (byShape[shape] as string) : DEFAULT_HANDLER;
}

/** Returns the nodes that qualify as the entry; a sound graph has one. */
export function entriesOf(graph: Graph): readonly GraphNode[] {
  return withShape(graph, 'Mdiamond');
}

/** Returns the nodes that qualify as the exit; a sound graph has one. */
export function exitsOf(graph: Graph): readonly GraphNode[] {
  return withShape(graph, 'Msquare');
}

function withShape(graph: Graph, shape: string): readonly GraphNode[] {
  return [...graph.nodes.values()].filter((node) => shapeOf(node) === shape);
}
