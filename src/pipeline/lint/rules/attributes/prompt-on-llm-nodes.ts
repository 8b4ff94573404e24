import { nodeAttribute } from '../../../model/graph.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires that a model stage has a prompt or a label. */
export const promptOnLlmNodes: LintRule = {
  severity: 'warning',
  *check(graph, { handlers }) {
    for (const node of graph.nodes.values()) {
      if (handlerTypeOf(node, handlers) !== 'codergen' || nodeAttribute(node, 'prompt') || nodeAttribute(node, 'label')) continue;
      yield {
        message: `The model stage \`${node.id}\` has neither a prompt nor a label: its id is sent instead`,
        ...aboutNode(node),
        fix: `write \`${node.id} [prompt="…"]\``,
      };
    }
  },
};
