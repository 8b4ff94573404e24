/** Functions and classes of Node modules. world.md 11.3. */
import type { Import } from '../../grammar/ast.js';
import { MlldError, type SourceLocation } from '../errors.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import { performEffect } from '../operation/perform-effect.js';
import type { HostFunction } from '../values/kinds/host-function.js';
import { fromHost, toNative } from '../values/native.js';
import { closest } from '../values/suggest.js';
import type { Value } from '../values/value.js';
import { WorldError } from '../world/world.js';

type Source = Extract<Import['source'], { kind: 'node' }>;

/** The exports that the import names, by their own names. */
export async function nodeModule(node: Import, source: Source, frame: Frame): Promise<ReadonlyMap<string, Value>> {
  if (!node.names) {
    throw new MlldError('NODE_IMPORT', `Of a Node module single names are imported: ${node.written}`, {
      location: locationOf(frame.module, node.at),
      hint: `import { name } from ${node.written}`,
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
    members.set(name, fromHost(exports[name], name));
  }
  return members;
}

/** What the function returns, a promise awaited. `location` is that of the call. */
export async function callHost(host: HostFunction, args: readonly Value[], location: SourceLocation): Promise<Value> {
  const given = args.map(toNative);
  try {
    return fromHost(await host.apply(given));
  } catch (cause) {
    throw hostThrew(`@${host.name}`, cause, location);
  }
}

/** `new @URL("…")`: an object whose fields can be read. */
export function constructHost(host: HostFunction, args: readonly Value[], location: SourceLocation): Value {
  const given = args.map(toNative);
  try {
    return fromHost(Reflect.construct(host.target, given));
  } catch (cause) {
    throw hostThrew(`new @${host.name}`, cause, location);
  }
}

function hostThrew(called: string, cause: unknown, location: SourceLocation): MlldError {
  return new MlldError('CODE_THREW', `${called}: ${cause instanceof Error ? cause.message : String(cause)}`, { location, cause });
}

/** `node @scope/pkg` may be a package of a scope or a file of a package, as `fs/promises` is. */
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
