/**
 * Finds hooks and guards on functions that no statement of the file declares: they would never fire. A function of another file may have
 * the name, so that a file with imports or exports is warned of only where a declared name resembles it. instrumentation.md 5.3.
 */
import { closest } from '../../../../grammar/closest.js';
import { filterText } from '../../../hooks/filter.js';
import { isAmbient } from '../../ambient-names.js';
import type { Rule } from '../../rule.js';
import { topLevel } from '../../top-level.js';

export const unknownFilterRule: Rule = {
  code: 'unknown-filter',
  list: 'warnings',
  *check(file, settings) {
    const { script, symbols } = file;
    const statements = topLevel(script);
    const isAlone = !statements.some(({ kind }) => kind === 'import' || kind === 'export');
    const functions = [...symbols.module.values()].filter(({ kind }) => kind === 'exe' || kind === 'import' || kind === 'var');
    for (const statement of statements) {
      if (statement.kind !== 'hook' && statement.kind !== 'guard') continue;
      const { filter, kind, at } = statement;
      if (filter.kind !== 'function') continue;
      const [name = ''] = filter.path;
      if (symbols.module.has(name) || isAmbient(name, file, settings)) continue;
      const near = closest(
        name,
        functions.map((known) => known.name),
      );
      if (near === undefined && !(isAlone && functions.some((known) => known.kind === 'exe'))) continue;
      const hint =
        near === undefined ? 'it fires only where another file of the run calls a function of this name' : `did you mean @${near}?`;
      yield { at, message: `this ${kind} never fires: no function ${filterText(filter)} is declared in this file`, hint };
    }
  },
};
