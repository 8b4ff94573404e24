import { entriesOf } from '../../../model/shapes.js';
import { aboutEdge, type LintRule } from '../../rule.js';

/** No edge leads into the entry. */
export const startNoIncoming: LintRule = {
  severity: 'error',
  *check(graph) {
    const entries = new Set(entriesOf(graph).map(({ id }) => id));
    for (const edge of graph.edges)
      if (entries.has(edge.to))
        yield {
          message: `The edge \`${edge.from} -> ${edge.to}\` leads into the entry`,
          ...aboutEdge(edge),
          at: edge.toAt,
          fix: 'lead it to the first stage behind the entry',
        };
  },
};
