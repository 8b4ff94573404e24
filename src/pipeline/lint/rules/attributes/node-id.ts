import { aboutNode, type LintRule } from '../../rule.js';

const FOLDERS = new Set(['artifacts', 'branches']);

/** Keeps ids usable as folder names: they must not collide with the run's own folders, and should differ in more than letter case. */
export const nodeId: LintRule = {
  severity: 'error',
  *check({ nodes }) {
    const seen = new Map<string, string>();
    for (const node of nodes.values()) {
      const { id } = node;
      if (FOLDERS.has(id))
        yield {
          message: `\`${id}\` can't be the id of a node: the run folder has a folder of that name`,
          ...aboutNode(node),
          fix: 'rename the node',
        };
      const twin = seen.get(id.toLowerCase());
      if (twin === undefined) seen.set(id.toLowerCase(), id);
      else
        yield {
          severity: 'warning',
          message: `\`${id}\` and \`${twin}\` differ only in letter case`,
          ...aboutNode(node),
          fix: 'rename one of them, or correct the statement if both mean the same node',
        };
    }
  },
};
