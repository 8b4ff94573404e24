/** Finds parameters with generic names, which hide variables of the same name. world.md 19. */
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
          at: positionInText(name, statement, text),
          message: `@${statement.name} has a parameter of the generic name "${name}"`,
          hint: 'name it after its meaning',
        };
      }
    }
  },
};

/** Finds the position in the text, because parameters have none in the tree. */
function positionInText(name: string, { nameAt }: Exe, text: string): number {
  const open = text.indexOf('(', nameAt);
  const found = new RegExp(`(?<![\\w-])${name}(?![\\w-])`).exec(text.slice(open));
  return open < 0 || !found ? nameAt : open + found.index;
}
