/** Lists the statements of a script that have a name, for the outline of an editor. */
import type { Statement } from '../../grammar/ast.js';
import type { ParsedScript } from '../validate/rule.js';
import { staticText } from '../validate/static-path.js';
import { rangeOf, type Range } from './positions.js';
import { extentsOf } from './statements.js';

export interface OutlineEntry {
  readonly name: string;
  readonly kind: 'function' | 'variable' | 'import' | 'interceptor' | 'checkpoint';
  readonly detail?: string;
  readonly range: Range;
}

export function outlineOf(file: ParsedScript): readonly OutlineEntry[] {
  return extentsOf(file).flatMap(({ statement, from, to }) => {
    const entry = entryOf(statement);
    return entry ? [{ ...entry, range: rangeOf(file.text, from, to) }] : [];
  });
}

function entryOf(statement: Statement): Omit<OutlineEntry, 'range'> | undefined {
  switch (statement.kind) {
    case 'exe':
      return {
        name: `@${statement.name}(${statement.params.map(({ name }) => name).join(', ')})`,
        kind: 'function',
        ...(statement.labels.length > 0 && { detail: statement.labels.join(', ') }),
      };
    case 'var':
      return { name: `@${statement.name}`, kind: 'variable' };
    case 'import':
      return { name: statement.written || 'import', kind: 'import' };
    case 'hook':
    case 'guard':
      return { name: `${statement.kind} ${statement.name === undefined ? statement.timing : `@${statement.name}`}`, kind: 'interceptor' };
    case 'checkpoint':
      return { name: `checkpoint ${staticText(statement.name) ?? ''}`.trimEnd(), kind: 'checkpoint' };
    default:
      return undefined;
  }
}
