import { joinsOf } from '../../../model/joins.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires that the branches of a parallel node meet at one fan-in at most. */
export const parallelJoin: LintRule = {
  severity: 'error',
  *check(graph, { handlers }) {
    for (const [id, met] of joinsOf(graph, handlers)) {
      const node = graph.nodes.get(id);
      if (!node || met.size < 2) continue;
      const names = [...met].map((name) => `\`${name}\``).toSorted();
      yield {
        message: `The branches of \`${id}\` meet at more than one fan-in: ${names.join(', ')}`,
        ...aboutNode(node),
        fix: 'lead all branches to the same fan-in',
      };
    }
  },
};
