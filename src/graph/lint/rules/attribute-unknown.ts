import { closest } from '../../../values/suggest.js';
import { ATTRIBUTES } from '../../attributes.js';
import type { LintRule } from '../rule.js';
import { attributesOf } from '../written.js';

const EDITS_MAX = 2;
/** Attributes of Graphviz that look like slips of ours: who draws the file means them. */
const OF_GRAPHVIZ = new Set(['height', 'layer', 'lheight', 'scale', 'style', 'xlabel']);

/** An unknown key is not a known one misspelt. */
export const attributeUnknown: LintRule = {
  severity: 'info',
  *check(graph) {
    for (const { of, key, attribute, owner, about } of attributesOf(graph)) {
      const known = ATTRIBUTES[of];
      if (Object.hasOwn(known, key) || OF_GRAPHVIZ.has(key)) continue;
      const near = closest(key, Object.keys(known), EDITS_MAX);
      if (near === undefined) continue;
      yield {
        message: `\`${key}\` of ${owner} is no attribute that mlld knows: it is kept and has no effect`,
        ...about,
        at: attribute.at,
        fix: `did you mean \`${near}\`?`,
      };
    }
  },
};
