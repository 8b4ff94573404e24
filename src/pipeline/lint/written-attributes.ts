/** Collects the written attributes of a graph, each once: a wrong default that many nodes share is reported at the first of them only. */
import type { Graph, GraphAttribute } from '../model/graph.js';

export interface WrittenAttribute {
  readonly of: 'graph' | 'node' | 'edge';
  readonly key: string;
  readonly attribute: GraphAttribute;
  /** Names the owner in messages. */
  readonly owner: string;
  /** The node or edge of the finding. */
  readonly about: { readonly node?: string; readonly edge?: readonly [string, string] };
}

export function* writtenAttributes(graph: Graph): Generator<WrittenAttribute> {
  for (const [key, attribute] of graph.attributes) yield { of: 'graph', key, attribute, owner: 'the graph', about: {} };
  const seen = new Set<GraphAttribute>();
  for (const node of graph.nodes.values()) {
    const about = { node: node.id };
    for (const [key, attribute] of unseen(node.attributes, seen)) yield { of: 'node', key, attribute, owner: `\`${node.id}\``, about };
  }
  for (const edge of graph.edges) {
    const about = { edge: [edge.from, edge.to] as const };
    for (const [key, attribute] of unseen(edge.attributes, seen))
      yield { of: 'edge', key, attribute, owner: `\`${edge.from} -> ${edge.to}\``, about };
  }
}

function unseen(attributes: ReadonlyMap<string, GraphAttribute>, seen: Set<GraphAttribute>): readonly [string, GraphAttribute][] {
  const fresh = [...attributes].filter(([, attribute]) => !seen.has(attribute));
  for (const [, attribute] of fresh) seen.add(attribute);
  return fresh;
}
