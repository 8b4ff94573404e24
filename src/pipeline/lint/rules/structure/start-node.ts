import { entriesOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires exactly one entry. */
export const startNode: LintRule = {
  severity: 'error',
  *check(graph) {
    const [first, ...others] = entriesOf(graph);
    if (!first) yield { message: 'The graph has no entry', at: 0, fix: 'add `start [shape=Mdiamond]`' };
    for (const node of others)
      yield {
        message: `The graph has a second entry: \`${node.id}\` besides \`${first?.id ?? ''}\``,
        ...aboutNode(node),
        fix: 'keep one node with `shape=Mdiamond`, or one node with the id `start`',
      };
  },
};
