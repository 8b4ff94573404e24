import { graphAttribute, nodeAttribute, type Graph } from '../../../model/graph.js';
import { entriesOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires that every node can be reached from the entry, by edges and by the retry targets of reachable nodes and of the graph. */
export const reachability: LintRule = {
  severity: 'error',
  *check(graph) {
    const entries = entriesOf(graph).map(({ id }) => id);
    if (entries.length === 0) return; // `start_node` reports that
    const walked = walkFrom(graph, entries);
    for (const node of graph.nodes.values())
      if (!walked.has(node.id))
        yield { message: `\`${node.id}\` can't be reached from the entry`, ...aboutNode(node), fix: 'add an edge to it, or remove it' };
  },
};

function walkFrom(graph: Graph, entries: readonly string[]): ReadonlySet<string> {
  const walked = new Set<string>();
  const waiting = [...entries, ...targets(graph)];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const node = graph.nodes.get(id);
    if (!node || walked.has(id)) continue;
    walked.add(id);
    waiting.push(...graph.outgoing(id).map(({ to }) => to));
    waiting.push(nodeAttribute(node, 'retry_target') ?? '', nodeAttribute(node, 'fallback_retry_target') ?? '');
  }
  return walked;
}

function targets(graph: Graph): readonly string[] {
  return [graphAttribute(graph, 'retry_target') ?? '', graphAttribute(graph, 'fallback_retry_target') ?? ''];
}
