import { choicesOf } from '../../../model/human-choices.js';
import { normaliseLabel } from '../../../model/labels.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import { aboutEdge, type LintRule } from '../../rule.js';

/** The choices of a human gate can be told apart. */
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
            message: `Two choices of \`${node.id}\` can't be told apart: \`${before}\` and \`${label}\``,
            ...aboutEdge(edge),
            node: node.id,
            fix: 'give each edge a label of its own; accelerators and letter case do not count',
          };
      }
    }
  },
};
