/** Finds `@stage-done` in text where only `@stage` is declared: the hyphen is part of a name unless a backslash ends the name. */
import type { Rule } from '../../rule.js';
import { beginningOf, unknownNames } from './unknown-names.js';

export const hyphenatedNamesRule: Rule = {
  code: 'hyphenated-identifier-in-template',
  list: 'antiPatterns',
  *check(file, settings) {
    for (const use of unknownNames(file, settings)) {
      const beginning = beginningOf(use);
      if (beginning === undefined) continue;
      const meant = `@${beginning}\\${use.name.slice(beginning.length)}`;
      yield {
        at: use.at,
        message: 'the hyphen is part of the name, and there is no such variable',
        variable: use.name,
        hint: `write ${meant}`,
      };
    }
  },
};
