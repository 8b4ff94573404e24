import { closest } from '../../../../values/suggest.js';
import type { LintRule } from '../../rule.js';

/** Both ends of an edge are nodes: an edge creates none, so that a misspelt name is no new stage. */
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
        const fix = near === undefined ? `state the node: \`${id} [prompt="…"]\`` : `did you mean \`${near}\`?`;
        yield { message: `The edge \`${from} -> ${to}\` names \`${id}\`, which is no node`, edge, at, fix };
      }
    }
  },
};
