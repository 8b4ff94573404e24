/**
 * Makes `import()` work whatever program this file is part of. The engine resolves it by the script in which `import()` - or the
 * `Function` constructor that made the function around it - is called; a script that was started from V8's code cache can't do that.
 * So both are called from a CommonJS module that is compiled here, as Node compiles any other.
 */
import { Module } from 'node:module';
import { join } from 'node:path';

export interface Importing {
  /** Calls one of a realm's function constructors; the function made may use `import()`. */
  readonly make: (constructor: FunctionConstructor, args: readonly string[]) => unknown;
  /** Loads a module by its URL, or a module of Node by its name. */
  readonly load: (place: string) => Promise<unknown>;
}

const SOURCE = 'exports.make = (constructor, args) => constructor(...args); exports.load = (place) => import(place);';

export function createImporting(): Importing {
  // Relative imports of bodies are resolved against this name.
  const file = join(process.cwd(), 'code.cjs');
  const module = new Module(file);
  // `_compile` is not in the types, but `require` itself calls it on every file.
  (module as Module & { _compile: (source: string, file: string) => void })._compile(SOURCE, file);
  return module.exports as Importing;
}
