import { closest } from '../../../../values/suggest.js';
import { nodeAttribute } from '../../../model/graph.js';
import { BUILT_IN_HANDLERS, shapeOf, SHAPES } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

/** Requires that a shape has a handler, unless a `type` names one. */
export const shapeKnown: LintRule = {
  severity: 'warning',
  *check(graph, { handlers }) {
    for (const node of graph.nodes.values()) {
      const shape = shapeOf(node);
      const type = nodeAttribute(node, 'type') ?? '';
      if (SHAPES.includes(shape) || BUILT_IN_HANDLERS.has(type) || handlers?.has(type)) continue;
      const near = closest(shape, SHAPES);
      yield {
        message: `The shape \`${shape}\` of \`${node.id}\` has no handler: it runs as a model stage`,
        ...aboutNode(node),
        fix: near === undefined ? `use one of ${SHAPES.join(', ')}` : `did you mean \`${near}\`?`,
      };
    }
  },
};
