/** Finds options about calls, and a budget in the header, whose written value they do not take. A run refuses them, too. calls.md 11.1. */
import { refusedOptions } from '../../language/calls/written-options.js';
import type { Rule } from '../rule.js';

export const callOptionValuesRule: Rule = {
  code: 'call-option-value',
  list: 'errors',
  *check({ script }) {
    for (const { at, message, hint } of refusedOptions(script)) yield { at, message, hint };
  },
};
