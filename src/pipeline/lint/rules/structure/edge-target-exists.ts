import { closest } from '../../../../values/suggest.js';
import type { LintRule } from '../../rule.js';

/** Requires that both ends of an edge are nodes: an edge creates no node, so a misspelt name does not become a stage. */
export const edgeTargetExists: LintRule = {
  severity: 'error',
  *check({ nodes, edges }) {
    for (const { from, to, fromAt, toAt } of edges) {
      const edge: readonly [string, string] = [from, to];
      for (const { id, at } of from === to
        ? [{ id: from, at: fromAt }]
        : [
            { id: from, at: fromAt },
            { id: to, at: toAt },
          ]) {
        if (nodes.has(id)) continue;
        const near = closest(id, nodes.keys());
        const fix = near === undefined ? `declare the node: \`${id} [prompt="…"]\`` : `did you mean \`${near}\`?`;
        yield { message: `The edge \`${from} -> ${to}\` names \`${id}\`, which is not a node`, edge, at, fix };
      }
    }
  },
};
