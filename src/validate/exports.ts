/** Finds the names that a script exports. world.md 11.2 and 12.1. */
import type { Exe, Script } from '../../grammar/ast.js';
import type { ParsedScript } from './rule.js';
import type { Declaration } from './static-scope.js';
import { topLevel } from './top-level.js';

export interface Exports {
  readonly names: ReadonlyMap<string, Exe | undefined>;
  /** Is false when there may be more names, because the file can't be read or is part of a circle. */
  readonly complete: boolean;
  /** Is true for a file with an export list, from which any other name is an error. */
  readonly listed: boolean;
}

export const UNKNOWN_EXPORTS: Exports = { names: new Map(), complete: false, listed: false };

/** Returns the exports. `imported` finds the functions of names that the script itself imported. */
export function exportsOf({ script, symbols }: ParsedScript, imported: (declaration: Declaration) => Exe | undefined): Exports {
  const listed = exportList(script);
  const isEverything = listed.length === 0 || listed.includes('*');
  const names = new Map<string, Exe | undefined>();
  for (const [name, declaration] of symbols.module) {
    if (isEverything || listed.includes(name)) names.set(name, declaration.exe ?? imported(declaration));
  }
  for (const name of interceptorNames(script)) if ((isEverything || listed.includes(name)) && !names.has(name)) names.set(name, undefined);
  if (returnsValue(script)) names.set('default', undefined);
  return { names, complete: true, listed: !isEverything };
}

export function exportList(script: Script): readonly string[] {
  return topLevel(script).flatMap((statement) => (statement.kind === 'export' ? statement.names.map(({ name }) => name) : []));
}

/** Returns the names of hooks and guards, which export lists may hold although importing any name activates them. */
export function interceptorNames(script: Script): readonly string[] {
  return topLevel(script).flatMap((statement) =>
    (statement.kind === 'guard' || statement.kind === 'hook') && statement.name !== undefined ? [statement.name] : [],
  );
}

/** Looks for a `=>` that ends the script, also inside an `if`. Those inside functions, hooks and guards end only these. */
function returnsValue(script: Script): boolean {
  const returns = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null) return false;
    const { kind } = node as { readonly kind?: unknown };
    if (kind === 'return') return true;
    if (kind === 'exe' || kind === 'hook' || kind === 'guard') return false;
    for (const name in node) if (returns((node as { readonly [name: string]: unknown })[name])) return true;
    return false;
  };
  return returns(script.statements);
}
