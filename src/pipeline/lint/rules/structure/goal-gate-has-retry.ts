import { graphAttribute, nodeAttribute } from '../../../model/graph.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires a retry target for goal gates that are not met. */
export const goalGateHasRetry: LintRule = {
  severity: 'warning',
  *check(graph) {
    if (graphAttribute(graph, 'retry_target') || graphAttribute(graph, 'fallback_retry_target')) return;
    for (const node of graph.nodes.values()) {
      if (nodeAttribute(node, 'goal_gate') !== true) continue;
      if (nodeAttribute(node, 'retry_target') || nodeAttribute(node, 'fallback_retry_target')) continue;
      yield {
        message: `The goal gate \`${node.id}\` has no retry target: if it is not met, the run fails`,
        ...aboutNode(node),
        fix: 'set `retry_target` on the node or on the graph',
      };
    }
  },
};
