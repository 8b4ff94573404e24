import { exitsOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires exactly one exit. */
export const terminalNode: LintRule = {
  severity: 'error',
  *check(graph) {
    const [first, ...others] = exitsOf(graph);
    if (!first) yield { message: 'The graph has no exit', at: 0, fix: 'add `exit [shape=Msquare]`' };
    for (const node of others)
      yield {
        message: `The graph has a second exit: \`${node.id}\` besides \`${first?.id ?? ''}\``,
        ...aboutNode(node),
        fix: 'keep one node with `shape=Msquare`, or one node with the id `exit` or `end`, and end edges there',
      };
  },
};
