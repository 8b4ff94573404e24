import { exitsOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires that an edge leaves every node except the exit. */
export const deadEnd: LintRule = {
  severity: 'warning',
  *check(graph) {
    const exits = new Set(exitsOf(graph));
    for (const node of graph.nodes.values())
      if (!exits.has(node) && graph.outgoing(node.id).length === 0)
        yield {
          message: `No edge leaves \`${node.id}\`: a run that gets here fails, because it can't reach the exit`,
          ...aboutNode(node),
          fix: 'add an edge to the next stage or to the exit',
        };
  },
};
