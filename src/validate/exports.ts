/** What a script gives to its importers. world.md 11.2 and 12.1. */
import type { Exe, Script } from '../../grammar/ast.js';
import type { ParsedScript } from './rule.js';
import type { Declaration } from './static-scope.js';
import { topLevel } from './top-level.js';

export interface Exports {
  readonly names: ReadonlyMap<string, Exe | undefined>;
  /** False when there may be more: the file can't be read, or is part of a circle. */
  readonly complete: boolean;
  /** Whether the file says what it exports: then any other name is an error. */
  readonly listed: boolean;
}

export const UNKNOWN_EXPORTS: Exports = { names: new Map(), complete: false, listed: false };

/** `imported`: the functions behind the names that the script itself imported. */
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

/** Hooks and guards may be listed, too: they are there as soon as the module is. */
export function interceptorNames(script: Script): readonly string[] {
  return topLevel(script).flatMap((statement) =>
    (statement.kind === 'guard' || statement.kind === 'hook') && statement.name !== undefined ? [statement.name] : [],
  );
}

/** A `=>` that ends the script, perhaps in an `if`; those of functions, hooks and guards end these. */
function returnsValue(script: Script): boolean {
  const returns = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null) return false;
    const { kind } = node as { readonly kind?: unknown };
    if (kind === 'return') return true;
    if (kind === 'exe' || kind === 'hook' || kind === 'guard') return false;
    return Object.values(node).some(returns);
  };
  return returns(script.statements);
}
