import { exitsOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** From every node but the exit an edge leads on. */
export const deadEnd: LintRule = {
  severity: 'warning',
  *check(graph) {
    const exits = new Set(exitsOf(graph));
    for (const node of graph.nodes.values())
      if (!exits.has(node) && graph.outgoing(node.id).length === 0)
        yield {
          message: `No edge leaves \`${node.id}\`: a run that comes here ends without reaching the exit`,
          ...aboutNode(node),
          fix: 'lead an edge to the next stage or to the exit',
        };
  },
};
