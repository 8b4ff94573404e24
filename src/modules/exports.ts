/** `export { @a, @b }`: the names that importers see. world.md 12.1. */
import type { Export, Script } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import type { Completion } from '../runtime/completion.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import type { Module } from '../runtime/module.js';
import { closest } from '../values/suggest.js';
import type { Value } from '../values/value.js';

/** Adds to the list of the module. The names are looked up once the module has run. */
export async function executeExport(node: Export, frame: Frame): Promise<Completion> {
  for (const { name } of node.names) frame.module.exports.add(name);
  return undefined;
}

/** Returns the names of the export lists; without a list, or with `*`, every name that the module declared or imported. */
export function exportedValues(script: Script, module: Module): Map<string, Value> {
  const values = new Map<string, Value>();
  if (exportsEverything(module))
    for (const { name, value, kind } of module.scope.entries()) if (kind !== 'ambient') values.set(name, value);
  for (const name of module.exports) {
    if (name === '*') continue;
    const binding = module.scope.own(name);
    if (!binding || binding.kind === 'ambient') {
      if (interceptorNames(script).includes(name)) continue;
      throw exportUndefined(name, script, module);
    }
    values.set(name, binding.value);
  }
  return values;
}

function exportsEverything({ exports }: Module): boolean {
  return exports.size === 0 || exports.has('*');
}

/** Returns the names of guards and hooks that lists of imports may name. They are in force for every importer, named or not. */
export function exportedInterceptors(script: Script, module: Module): ReadonlySet<string> {
  const names = interceptorNames(script);
  return new Set(exportsEverything(module) ? names : names.filter((name) => module.exports.has(name)));
}

function interceptorNames({ statements }: Script): readonly string[] {
  return statements.flatMap((statement) =>
    (statement.kind === 'guard' || statement.kind === 'hook') && statement.name !== undefined ? [statement.name] : [],
  );
}

function exportUndefined(name: string, script: Script, module: Module): MlldError {
  const listed = script.statements.flatMap((statement) => (statement.kind === 'export' ? statement.names : []));
  const near = closest(name, module.scope.visible());
  return new MlldError('EXPORT_UNDEFINED', `${module.display} exports @${name}, which it does not define`, {
    location: locationOf(module, listed.find((entry) => entry.name === name)?.at ?? 0),
    hint: near === undefined ? undefined : `did you mean @${near}?`,
  });
}
