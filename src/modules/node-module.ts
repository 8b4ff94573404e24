/** Imports single functions, classes and values from Node modules. world.md 11.3. */
import type { Import } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import { performEffect } from '../operation/perform-effect.js';
import { fromExport } from '../values/native.js';
import { closest } from '../values/suggest.js';
import type { Value } from '../values/value.js';
import { WorldError } from '../world/world.js';

type Source = Extract<Import['source'], { kind: 'node' }>;

/** Returns the exports that the import names, under their own names. Throws NODE_IMPORT, NOT_EXPORTED. */
export async function nodeModule(node: Import, source: Source, frame: Frame): Promise<ReadonlyMap<string, Value>> {
  if (!node.names) {
    throw new MlldError('NODE_IMPORT', `A Node module is imported name by name: ${node.written}`, {
      location: locationOf(frame.module, node.at),
      hint: `write: import { name } from ${node.written}`,
    });
  }
  const exports = await hostExports(source.package, frame);
  const members = new Map<string, Value>();
  for (const { name, at } of node.names) {
    if (!(name in exports)) {
      const near = closest(name, Object.keys(exports));
      throw new MlldError('NOT_EXPORTED', `${node.written} does not export ${name}`, {
        location: locationOf(frame.module, at),
        hint: near === undefined ? undefined : `did you mean ${near}?`,
      });
    }
    members.set(name, fromExport(exports[name], name));
  }
  return members;
}

/** Tries `@scope/pkg` first, because `node @scope/pkg` may be a scoped package or a file of a package, as `fs/promises` is. */
async function hostExports(name: string, frame: Frame): Promise<{ readonly [name: string]: unknown }> {
  const from = frame.module.directory;
  if (name.includes('/')) {
    try {
      return (await performEffect(frame, 'node.import', { module: `@${name}`, from })).exports;
    } catch (error) {
      if (!(error instanceof WorldError)) throw error;
    }
  }
  return (await performEffect(frame, 'node.import', { module: name, from })).exports;
}
