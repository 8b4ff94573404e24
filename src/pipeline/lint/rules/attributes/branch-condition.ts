import { conditionOf } from '../../../model/graph.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import { aboutEdge, type LintRule } from '../../rule.js';

/** Reports conditions on the edges that leave a parallel node: every such edge is a branch and is always taken. */
export const branchCondition: LintRule = {
  severity: 'warning',
  *check(graph, { handlers }) {
    for (const node of graph.nodes.values()) {
      if (handlerTypeOf(node, handlers) !== 'parallel') continue;
      for (const edge of graph.outgoing(node.id))
        if (conditionOf(edge) !== undefined)
          yield {
            message: `The condition of \`${edge.from} -> ${edge.to}\` is ignored: the edge leaves a parallel node, where every branch runs`,
            ...aboutEdge(edge),
            fix: 'decide within the branch, after a node with `shape=diamond`',
          };
    }
  },
};
