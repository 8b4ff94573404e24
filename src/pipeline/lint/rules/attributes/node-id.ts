import { aboutNode, type LintRule } from '../../rule.js';

const FOLDERS = new Set(['artifacts', 'branches']);

/** Ids are names of folders in the run folder: none of its own, and best not two that some file systems take for one. */
export const nodeId: LintRule = {
  severity: 'error',
  *check({ nodes }) {
    const seen = new Map<string, string>();
    for (const node of nodes.values()) {
      const { id } = node;
      if (FOLDERS.has(id))
        yield { message: `\`${id}\` is a folder of the run and can't be a node`, ...aboutNode(node), fix: 'choose another id' };
      const twin = seen.get(id.toLowerCase());
      if (twin === undefined) seen.set(id.toLowerCase(), id);
      else
        yield {
          severity: 'warning',
          message: `\`${id}\` and \`${twin}\` differ in letter case only`,
          ...aboutNode(node),
          fix: 'choose another id, or correct the statement that was meant for the other',
        };
    }
  },
};
