/** Lists the functions, imports, exports and guards of a script for the report. world.md 19. */
import type { Filter, Script } from '../../grammar/ast.js';
import { exportList } from './exports.js';
import type { ModuleFacts } from './needs/frontmatter.js';
import { needsOf } from './needs/needs-of.js';
import type { FileReport } from './report.js';
import { topLevel } from './top-level.js';

type Described = Pick<FileReport, 'module' | 'executables' | 'exports' | 'imports' | 'guards' | 'needs'>;

export function describeScript(script: Script, facts: ModuleFacts | undefined): Described {
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
  const needs = needsOf(script, facts?.needs ?? []).map(({ kind, name }) => ({ kind, name }));
  const exports = exportList(script);
  const { name, author, version, about } = facts ?? {};
  const module = {
    ...(name !== undefined && { name: fullName(name, author) }),
    ...(version !== undefined && { version }),
    ...(about !== undefined && { about }),
  };
  return {
    ...(Object.keys(module).length > 0 && { module }),
    ...(executables.length > 0 && { executables }),
    ...(exports.length > 0 && { exports }),
    ...(imports.length > 0 && { imports }),
    ...(guards.length > 0 && { guards }),
    ...(needs.length > 0 && { needs }),
  };
}

/** `claude-poll` of `mlld` is `@mlld/claude-poll`. */
function fullName(name: string, author: string | undefined): string {
  return name.startsWith('@') || author === undefined ? name : `@${author.replace(/^@/, '')}/${name}`;
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
