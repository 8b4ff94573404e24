import { entriesOf } from '../../../model/shapes.js';
import { aboutEdge, type LintRule } from '../../rule.js';

/** Requires that no edge leads into the entry. */
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
          fix: 'end the edge at the first stage after the entry',
        };
  },
};
