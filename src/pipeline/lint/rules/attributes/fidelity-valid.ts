import { FIDELITY_MODES, isFidelityMode } from '../../../model/attributes.js';
import type { LintRule } from '../../rule.js';
import { writtenAttributes } from '../../written-attributes.js';

/** Requires that a fidelity is one of the six modes. */
export const fidelityValid: LintRule = {
  severity: 'warning',
  *check(graph) {
    for (const { of, key, attribute, owner, about } of writtenAttributes(graph)) {
      const { text, at } = attribute.value;
      if (key !== (of === 'graph' ? 'default_fidelity' : 'fidelity') || text === '' || isFidelityMode(text)) continue;
      yield {
        message: `\`${key}\` of ${owner} is \`${text}\`, which is not a mode: it is ignored`,
        ...about,
        at,
        fix: `use one of ${FIDELITY_MODES.join(', ')}`,
      };
    }
  },
};
