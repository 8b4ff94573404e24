/** Finds references to names that are not declared. values.md 16.1. */
import { locate } from '../../../../grammar/parse.js';
import { closest } from '../../../values/suggest.js';
import type { ParsedScript, Rule } from '../../rule.js';
import type { Use } from '../../static-scope.js';
import { beginningOf, unknownNames } from './unknown-names.js';

export const undefinedVariablesRule: Rule = {
  code: 'undefined-variable',
  list: 'warnings',
  *check(file, settings) {
    for (const use of unknownNames(file, settings)) {
      if (beginningOf(use) !== undefined) continue;
      const hint = hintFor(use, file);
      yield { at: use.at, message: 'undefined variable', variable: use.name, ...(hint !== undefined && { hint }) };
    }
  },
};

function hintFor({ name, visible }: Use, { symbols, text }: ParsedScript): string | undefined {
  const later = symbols.module.get(name);
  if (later) return `it is declared further down, in line ${locate(text, later.at).line}`;
  const near = closest(name, visible());
  return near === undefined ? undefined : `did you mean @${near}?`;
}
