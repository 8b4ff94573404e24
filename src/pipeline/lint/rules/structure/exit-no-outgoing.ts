import { exitsOf } from '../../../model/shapes.js';
import { aboutEdge, type LintRule } from '../../rule.js';

/** Requires that no edge leaves the exit. */
export const exitNoOutgoing: LintRule = {
  severity: 'error',
  *check(graph) {
    for (const exit of exitsOf(graph))
      for (const edge of graph.outgoing(exit.id))
        yield {
          message: `The edge \`${edge.from} -> ${edge.to}\` leaves the exit`,
          ...aboutEdge(edge),
          fix: 'a run ends at the exit: start the edge at a stage before it, or give this node another shape and id',
        };
  },
};
