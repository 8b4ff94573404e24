/** Finds locals of functions that a later name of the file makes an error once it is declared. control.md 2.3. */
import { locate } from '../../../../grammar/parse.js';
import type { Rule } from '../../rule.js';

export const declaredBelowRule: Rule = {
  code: 'declared-below',
  list: 'antiPatterns',
  *check({ symbols, text }) {
    for (const { name, at, clashBelow } of symbols.declarations) {
      if (!clashBelow) continue;
      const line = `line ${locate(text, clashBelow.at).line}`;
      yield { at, message: `@${name} is also declared in ${line}: calls that are made after it fail here`, hint: 'choose another name' };
    }
  },
};
