import { choicesOf, defaultChoice } from '../../../model/human-choices.js';
import { nodeAttribute } from '../../../model/graph.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** The default choice of a human gate is one of its choices. */
export const humanDefault: LintRule = {
  severity: 'warning',
  *check(graph, { handlers }) {
    for (const node of graph.nodes.values()) {
      const wanted = nodeAttribute(node, 'human.default_choice') ?? '';
      if (wanted === '' || handlerTypeOf(node, handlers) !== 'wait.human') continue;
      const choices = choicesOf(graph, node);
      if (defaultChoice(node, choices)) continue;
      yield {
        message: `The default choice of \`${node.id}\` is \`${wanted}\`, which fits no choice: it is ignored`,
        ...aboutNode(node),
        fix: choices.length === 0 ? 'the gate has no choices' : `choices are ${choices.map(({ label }) => `\`${label}\``).join(', ')}`,
      };
    }
  },
};
