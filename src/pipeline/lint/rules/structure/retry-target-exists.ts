import { closest } from '../../../../values/suggest.js';
import type { LintRule } from '../../rule.js';
import { writtenAttributes } from '../../written-attributes.js';

/** Requires that a retry target is a node. */
export const retryTargetExists: LintRule = {
  severity: 'warning',
  *check(graph) {
    for (const { of, key, attribute, owner, about } of writtenAttributes(graph)) {
      const { text, at } = attribute.value;
      if (of === 'edge' || (key !== 'retry_target' && key !== 'fallback_retry_target')) continue;
      if (text === '' || graph.nodes.has(text)) continue;
      const near = closest(text, graph.nodes.keys());
      yield {
        message: `\`${key}\` of ${owner} is \`${text}\`, which is not a node: it is ignored`,
        ...about,
        at,
        fix: near === undefined ? 'use the id of a node' : `did you mean \`${near}\`?`,
      };
    }
  },
};
