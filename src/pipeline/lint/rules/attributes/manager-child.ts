import { graphAttribute, nodeAttribute } from '../../../model/graph.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires a child pipeline for managers that start one. */
export const managerChild: LintRule = {
  severity: 'warning',
  *check(graph, { handlers }) {
    if (graphAttribute(graph, 'stack.child_dotfile')) return;
    for (const node of graph.nodes.values()) {
      if (handlerTypeOf(node, handlers) !== 'stack.manager_loop' || nodeAttribute(node, 'stack.child_autostart') === false) continue;
      yield {
        message: `The manager \`${node.id}\` has no child pipeline: the stage fails`,
        ...aboutNode(node),
        fix: 'write `graph [stack.child_dotfile="…"]`',
      };
    }
  },
};
