/** Finds declarations of reserved names. values.md 13. */
import { reservedNames } from '../../../../grammar/keywords.js';
import type { Rule } from '../../rule.js';

const RESERVED: ReadonlySet<string> = new Set(reservedNames);
const DECLARING: ReadonlySet<string> = new Set(['var', 'let', 'exe', 'import']);

export const reservedNamesRule: Rule = {
  code: 'reserved-name',
  list: 'errors',
  *check({ symbols }) {
    for (const { name, kind, at } of symbols.declarations) {
      if (!DECLARING.has(kind) || !RESERVED.has(name)) continue;
      yield { at, message: `@${name} is a reserved name and can't be declared`, hint: 'choose another name' };
    }
  },
};
