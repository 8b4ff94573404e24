/** Names of parameters that say nothing, and hide what callers name likewise. world.md 19. */
import type { Exe } from '../../../../grammar/ast.js';
import type { Rule } from '../../rule.js';
import { topLevel } from '../../top-level.js';

const GENERIC = ['result', 'output', 'data', 'value', 'response'];

export const parameterNamesRule: Rule = {
  code: 'exe-parameter-shadowing',
  list: 'antiPatterns',
  *check({ script, text }) {
    for (const statement of topLevel(script)) {
      if (statement.kind !== 'exe') continue;
      for (const { name } of statement.params.filter((param) => GENERIC.includes(param.name))) {
        yield {
          at: placeOf(name, statement, text),
          message: `@${statement.name} has a parameter of the generic name "${name}"`,
          hint: 'say what it holds',
        };
      }
    }
  },
};

/** Parameters carry no place of their own in the tree. */
function placeOf(name: string, { nameAt }: Exe, text: string): number {
  const open = text.indexOf('(', nameAt);
  const found = new RegExp(`(?<![\\w-])${name}(?![\\w-])`).exec(text.slice(open));
  return open < 0 || !found ? nameAt : open + found.index;
}
