/** Lists the functions, imports, exports and guards of a script for the report. world.md 19. */
import type { Filter, Script } from '../../grammar/ast.js';
import { exportList } from './exports.js';
import { needsOf } from './needs/needs-of.js';
import type { FileReport } from './report.js';
import { topLevel } from './top-level.js';

export function describeScript(script: Script): Pick<FileReport, 'executables' | 'exports' | 'imports' | 'guards' | 'needs'> {
  const statements = topLevel(script);
  const executables = statements
    .filter((statement) => statement.kind === 'exe')
    .map(({ name, params, labels }) => ({ name, params: params.map((param) => param.name), labels }));
  const imports = statements
    .filter((statement) => statement.kind === 'import')
    .map(({ written, names, alias }) => ({
      from: written,
      names: names?.map((item) => item.alias ?? item.name) ?? (alias === undefined ? [] : [alias]),
    }));
  const guards = statements
    .filter((statement) => statement.kind === 'guard')
    .map(({ name, timing, filter }) => ({ ...(name !== undefined && { name }), timing, filter: writtenFilter(filter) }));
  const needs = needsOf(script).map(({ kind, name }) => ({ kind, name }));
  const exports = exportList(script);
  return {
    ...(executables.length > 0 && { executables }),
    ...(exports.length > 0 && { exports }),
    ...(imports.length > 0 && { imports }),
    ...(guards.length > 0 && { guards }),
    ...(needs.length > 0 && { needs }),
  };
}

function writtenFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'function':
      return `@${filter.path.join('.')}`;
    case 'operation':
      return `op:${filter.name}`;
    case 'label':
      return filter.label;
  }
}
