/** Finds the file that an import names. world.md 11. */
import path from 'node:path';
import type { Import } from '../../../grammar/ast.js';
import type { ParsedScript } from '../rule.js';
import { resolveName, resolveStatic } from '../static-path.js';
import { locateModule } from './locate-module.js';
import { publishedModule, type StaticModule } from './published.js';
import type { Workspace } from './workspace.js';

/** Returns the path that an import names, without the endings that may be left out; undefined where it depends on a run (LINK-2). */
export function pathOf(source: Import['source'], file: ParsedScript, workspace: Workspace): string | undefined {
  if (source.kind === 'node') return undefined;
  return source.kind === 'provided'
    ? resolveName(source.name, workspace)
    : resolveStatic(source.path, path.dirname(file.absolute), workspace);
}

/** Resolver prefixes have precedence over published modules. A name that begins with a variable depends on a run (LINK-2). */
export async function namedModule(source: Import['source'], workspace: Workspace): Promise<StaticModule | undefined> {
  const [first] = source.kind === 'path' ? source.path : [];
  if (first?.kind === 'text' && source.kind === 'path' && source.path.length === 1) return publishedModule(first.text, workspace);
  if (source.kind !== 'provided' || resolveName(source.name, workspace) !== undefined) return undefined;
  return publishedModule(source.name, workspace);
}

/** Returns the absolute path of the module; undefined for a folder of modules, for what is missing and what depends on a run. */
export async function importedFile({ source, written }: Import, file: ParsedScript, workspace: Workspace): Promise<string | undefined> {
  const named = await namedModule(source, workspace);
  const absolute = named === undefined ? pathOf(source, file, workspace) : 'absolute' in named ? named.absolute : undefined;
  if (absolute === undefined) return undefined;
  const located = await locateModule(absolute, written.endsWith('/') ? 'slash' : 'name', workspace.files);
  return located.kind === 'module' ? located.absolute : undefined;
}
