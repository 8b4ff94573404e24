/** Finds calls of `@json`, the old name of `@parse`. values.md 11.3. */
import type { Rule } from '../rule.js';

export const deprecatedJsonRule: Rule = {
  code: 'deprecated-json-transform',
  list: 'antiPatterns',
  *check({ symbols }) {
    for (const { name, target, at, place, argumentsPassed } of symbols.uses) {
      const isCall = place === 'stage' || argumentsPassed !== undefined;
      if (isCall && target === undefined && name.toLowerCase() === 'json')
        yield { at, message: '@json is deprecated', hint: 'write @parse' };
    }
  },
};
