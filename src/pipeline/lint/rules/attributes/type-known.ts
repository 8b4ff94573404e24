import { closest } from '../../../../values/suggest.js';
import { nodeAttribute } from '../../../model/graph.js';
import { BUILT_IN_HANDLERS, handlerTypeOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires that a `type` names a handler. */
export const typeKnown: LintRule = {
  severity: 'warning',
  *check(graph, { handlers = new Set() }) {
    const known = [...BUILT_IN_HANDLERS, ...handlers];
    for (const node of graph.nodes.values()) {
      const type = nodeAttribute(node, 'type') ?? '';
      if (type === '' || known.includes(type)) continue;
      const near = closest(type, known);
      yield {
        message: `\`${node.id}\` has the type \`${type}\`, which has no handler: it runs as \`${handlerTypeOf(node, handlers)}\``,
        ...aboutNode(node),
        fix: near === undefined ? `use one of ${known.join(', ')}` : `did you mean \`${near}\`?`,
      };
    }
  },
};
