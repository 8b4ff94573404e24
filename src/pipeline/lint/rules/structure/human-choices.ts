import { choicesOf } from '../../../model/human-choices.js';
import { normaliseLabel } from '../../../model/labels.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import { aboutEdge, type LintRule } from '../../rule.js';

/** Requires that the choices of a human gate differ in more than key and letter case. */
export const humanChoices: LintRule = {
  severity: 'error',
  *check(graph, { handlers }) {
    for (const node of graph.nodes.values()) {
      if (handlerTypeOf(node, handlers) !== 'wait.human') continue;
      const seen = new Map<string, string>();
      for (const { label, edge } of choicesOf(graph, node)) {
        const normalised = normaliseLabel(label);
        const before = seen.get(normalised);
        if (before === undefined) seen.set(normalised, label);
        else
          yield {
            message: `Two choices of \`${node.id}\` are the same: \`${before}\` and \`${label}\``,
            ...aboutEdge(edge),
            node: node.id,
            fix: 'give each edge its own label; keys like [Y] and letter case do not count',
          };
      }
    }
  },
};
