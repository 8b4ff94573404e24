import { exitsOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Exactly one exit. */
export const terminalNode: LintRule = {
  severity: 'error',
  *check(graph) {
    const [first, ...others] = exitsOf(graph);
    if (!first) yield { message: 'The graph has no exit', at: 0, fix: 'add `exit [shape=Msquare]`' };
    for (const node of others)
      yield {
        message: `The graph has a second exit: \`${node.id}\` beside \`${first?.id ?? ''}\``,
        ...aboutNode(node),
        fix: 'keep one node with `shape=Msquare`, or one that is called `exit` or `end`, and lead edges there',
      };
  },
};
