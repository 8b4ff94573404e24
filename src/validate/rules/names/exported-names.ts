/** Finds names in `export` that the file doesn't define, which is an error when the file is imported. world.md 12.1. */
import { closest } from '../../../values/suggest.js';
import { interceptorNames } from '../../exports.js';
import type { Rule } from '../../rule.js';
import { topLevel } from '../../top-level.js';

export const exportedNamesRule: Rule = {
  code: 'undefined-export',
  list: 'warnings',
  *check({ script, symbols }) {
    const interceptors = interceptorNames(script);
    for (const statement of topLevel(script)) {
      if (statement.kind !== 'export') continue;
      for (const { name, at } of statement.names) {
        if (name === '*' || symbols.module.has(name) || interceptors.includes(name)) continue;
        const near = closest(name, symbols.module.keys());
        yield { at, message: 'exported, but not defined', variable: name, ...(near !== undefined && { hint: `did you mean @${near}?` }) };
      }
    }
  },
};
