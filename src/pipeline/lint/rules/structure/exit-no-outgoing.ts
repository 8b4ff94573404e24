import { exitsOf } from '../../../model/shapes.js';
import { aboutEdge, type LintRule } from '../../rule.js';

/** No edge leaves the exit. */
export const exitNoOutgoing: LintRule = {
  severity: 'error',
  *check(graph) {
    for (const exit of exitsOf(graph))
      for (const edge of graph.outgoing(exit.id))
        yield {
          message: `The edge \`${edge.from} -> ${edge.to}\` leaves the exit`,
          ...aboutEdge(edge),
          fix: 'the walk ends at the exit: let the edge leave a stage before it, or make this one no exit',
        };
  },
};
