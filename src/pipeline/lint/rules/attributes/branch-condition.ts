import { conditionOf } from '../../../model/graph.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import { aboutEdge, type LintRule } from '../../rule.js';

/** Edges that leave a parallel node are its branches, all of them. */
export const branchCondition: LintRule = {
  severity: 'warning',
  *check(graph, { handlers }) {
    for (const node of graph.nodes.values()) {
      if (handlerTypeOf(node, handlers) !== 'parallel') continue;
      for (const edge of graph.outgoing(node.id))
        if (conditionOf(edge) !== undefined)
          yield {
            message: `The condition of \`${edge.from} -> ${edge.to}\` is ignored: it leaves a parallel node, and every branch runs`,
            ...aboutEdge(edge),
            fix: 'decide inside of the branch, behind a node with `shape=diamond`',
          };
    }
  },
};
