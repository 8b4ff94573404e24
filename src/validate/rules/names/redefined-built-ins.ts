/** Finds declarations that replace a built-in function, which is allowed. values.md 11.3. */
import { isBuiltIn } from '../../ambient-names.js';
import type { Rule } from '../../rule.js';

export const redefinedBuiltInsRule: Rule = {
  code: 'redefined-built-in',
  list: 'redefinitions',
  *check({ symbols }) {
    for (const { name, at, kind } of symbols.module.values()) {
      if (kind !== 'implicit' && isBuiltIn(name))
        yield { at, message: 'has the name of a built-in function and replaces it in this file', variable: name };
    }
  },
};
