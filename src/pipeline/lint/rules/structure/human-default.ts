import { choicesOf, defaultChoice } from '../../../model/human-choices.js';
import { nodeAttribute } from '../../../model/graph.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires that the default choice of a human gate is one of its choices. */
export const humanDefault: LintRule = {
  severity: 'warning',
  *check(graph, { handlers }) {
    for (const node of graph.nodes.values()) {
      const wanted = nodeAttribute(node, 'human.default_choice') ?? '';
      if (wanted === '' || handlerTypeOf(node, handlers) !== 'wait.human') continue;
      const choices = choicesOf(graph, node);
      if (defaultChoice(node, choices)) continue;
      yield {
        message: `The default choice of \`${node.id}\` is \`${wanted}\`, which is not one of its choices: it is ignored`,
        ...aboutNode(node),
        fix:
          choices.length === 0
            ? 'the gate has no choices: add edges without a condition'
            : `use one of ${choices.map(({ label }) => `\`${label}\``).join(', ')}`,
      };
    }
  },
};
