/**
 * Runs `node` bodies in a context of the Node runtime with globals of its own, one per world, made when the first body runs.
 *
 * NODE-1 Timers never keep the run alive by themselves; a call that is running does.
 * NODE-2 Data is copied into objects and arrays of the other realm, so that both realms recognise it.
 * NODE-3 Relative paths are resolved in the working directory of the call until its first `await`: the operating system has one working
 *    directory per process, and other calls run in between.
 * NODE-4 A body that is interrupted leaves no half-loaded module in the cache: the next `require` would return a part of it.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { createCodeCache } from './code-cache.js';
import { type Realm, realmOf } from './compile-code.js';
import type { Importing } from './importing.js';
import type { CodeRunner } from './javascript.js';
import { BUILD, type Builder, crossed, outside } from './realm-copy.js';
import { CapturedOutput, type CodeHost, callFacts, checkDirectory, guardedProcess, thrown } from './code-globals.js';
import { createTimers } from './timers.js';
import { WorldError } from '../world.js';

interface Context {
  readonly realm: Realm;
  readonly builder: Builder;
}

export function createNodeContext(host: CodeHost, importing: () => Importing): CodeRunner & { stop(): void } {
  const timers = createTimers((error) => host.stderr(`a timer of a node body failed: ${thrown(error).message}\n`));
  let made: Context | undefined;
  const context = (): Context => (made ??= makeContext(timers.globals, importing()));
  const cache = createCodeCache({
    realm: () => context().realm,
    ambient: ['console', 'mlld', 'mx', 'process', 'require'],
    shadowTiming: 'async',
    host,
    around: (request, body) => inDirectory(request.directory ?? process.cwd(), body),
  });
  const hosts = new Map<string, { readonly process: NodeJS.Process; readonly require: NodeJS.Require }>();
  const directories = new Set<string>();

  function hostOf(directory: string): { readonly process: NodeJS.Process; readonly require: NodeJS.Require } {
    let known = hosts.get(directory);
    if (!known) {
      const guarded = guardedProcess(host, directory);
      known = { process: guarded, require: guardedRequire(createRequire(join(directory, 'node-body.js')), guarded) };
      hosts.set(directory, known);
    }
    return known;
  }

  return {
    async run(request, options = {}) {
      checkDirectory(directories, request.directory);
      const directory = request.directory ?? process.cwd();
      const output = new CapturedOutput(host, request.echo);
      const globals = (word: string): unknown => {
        if (word === 'console') return output.console;
        if (word === 'process') return hostOf(directory).process;
        if (word === 'require') return hostOf(directory).require;
        if (word === 'mx') return crossed(request.mx, context().builder);
        return callFacts(request, options);
      };
      timers.hold();
      try {
        const variables: Record<string, unknown> = {};
        for (const [name, value] of Object.entries(request.variables)) variables[name] = crossed(value, context().builder);
        const result = await cache.call({ ...request, variables, directory }, globals, options.deadline);
        return { value: crossed(result, outside), log: output.log };
      } catch (error) {
        if (error instanceof WorldError && error.code === 'INTERRUPTED') forgetHalfLoaded(createRequire(join(directory, 'node-body.js'))); // NODE-4
        throw thrown(error, cache.placeOf(request, error));
      } finally {
        timers.release();
      }
    },
    stop: () => timers.stop(),
  };
}

function inDirectory<T>(directory: string, call: () => T): T {
  const before = process.cwd();
  if (before === directory) return call();
  try {
    process.chdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_UNSUPPORTED_OPERATION') return call(); // threads cannot change it
    throw error;
  }
  try {
    return call();
  } finally {
    process.chdir(before);
  }
}

/** Modules are loaded without an interruption, so the body was loading all of these. */
function forgetHalfLoaded({ cache }: NodeJS.Require): void {
  for (const [file, module] of Object.entries(cache)) if (module?.loaded === false) delete cache[file];
}

function guardedRequire(require: NodeJS.Require, guarded: NodeJS.Process): NodeJS.Require {
  return new Proxy(require, {
    apply: (target, self, [id]: [string]) =>
      id === 'process' || id === 'node:process' ? guarded : (Reflect.apply(target, self, [id]) as unknown),
  });
}

/** Makes a context with everything that Node adds to the language, read when it is used: some of it is slow to load. */
function makeContext(own: Readonly<Record<string, unknown>>, importing: Importing): Context {
  const globals = createContext({}) as Record<string, unknown>;
  const inside = new Set(runInContext('Object.getOwnPropertyNames(globalThis)', globals) as string[]);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (inside.has(name) || name === 'process' || name === 'global' || name in own) continue;
    Object.defineProperty(globals, name, {
      configurable: true,
      enumerable: false,
      get: () => (globalThis as Record<string, unknown>)[name],
      set: (value: unknown) => {
        Object.defineProperty(globals, name, { value, writable: true, configurable: true });
      },
    });
  }
  for (const [name, value] of Object.entries(own)) globals[name] = value;
  // Binary data passes to and from Node's modules unchanged.
  for (const type of [
    ArrayBuffer,
    Uint8Array,
    Int8Array,
    Uint16Array,
    Int16Array,
    Uint32Array,
    Int32Array,
    Float32Array,
    Float64Array,
    DataView,
  ]) {
    globals[type.name] = type;
  }
  globals['global'] = runInContext('globalThis', globals);
  const adopt = runInContext(RECOGNISE_FOREIGN, globals) as (foreign: Record<string, unknown>) => void;
  adopt({
    Error,
    TypeError,
    RangeError,
    SyntaxError,
    ReferenceError,
    EvalError,
    URIError,
    AggregateError,
    Object,
    Array,
    Function,
    Promise,
    Date,
    RegExp,
    Map,
    Set,
  });
  return {
    realm: realmOf(runInContext('Function', globals) as FunctionConstructor, importing),
    builder: runInContext(BUILD, globals) as Builder,
  };
}

/** Modules throw errors of the other realm: `error instanceof Error` has to hold for them, too. */
const RECOGNISE_FOREIGN = `(foreign) => {
  const isInstance = Function.prototype[Symbol.hasInstance];
  for (const [name, other] of Object.entries(foreign)) {
    const own = globalThis[name];
    Object.defineProperty(own, Symbol.hasInstance, {
      value(candidate) { return isInstance.call(this, candidate) || (this === own && isInstance.call(other, candidate)); },
    });
  }
}`;
