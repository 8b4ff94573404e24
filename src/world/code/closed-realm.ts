/**
 * Runs JavaScript in a realm of its own, from which no object of this program can be reached.
 *
 * REALM-1  Only texts and functions of the realm cross the border. The two functions of this program that the realm's own code needs stay
 *    in its closure, and no error of this program passes them: a stack that is exhausted in them is reported by an error of the realm.
 * REALM-2  No code is made of texts in the realm, and it has no `import()`: the promise of one would be an object of this program. Who
 *    compiles code in it sees to that (`src/workflows/text/`).
 * REALM-3  This program awaits nothing of the realm: a `then` of its code would be handed functions of ours.
 * REALM-4  Asynchronous contexts hold texts only, and begin outside of those of the embedding program: Node keeps them on promises, where
 *    code can find them.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { createContext, Script } from 'node:vm';

/** A program of this realm calls `ask` for everything that it can't do itself. It must not throw. */
export type Ask = (request: string, text: string) => string;

export interface ClosedRealm {
  /** Calls the function that the bootstrap returned. `context`: what that calls runs in this context. */
  deliver(texts: readonly string[], context?: string): void;
  /** Runs code in this context. Its value is not looked at. */
  start(code: CompiledCode, context: string): void;
  /** Listens to the realm no more. */
  close(): void;
}

export interface RealmParts {
  /** The text of a function of the realm; `createClosedRealm` says what it gets and returns. */
  readonly bootstrap: string;
  readonly ask: Ask;
  /** Called with the message of a rejection that the code of the realm does not handle. */
  readonly onStray: (message: string) => void;
}

export interface CompiledCode {
  readonly script: Script;
}

/** Made when this module is loaded, before the embedding program has a context (REALM-4). */
const OUTSIDE = new AsyncResource('mlld');
const CONTEXT = new AsyncLocalStorage<string>();

/** Throws a SyntaxError, whose stack begins with the file and the line. */
export function compileCode(
  source: string,
  { file, columnOffset }: { readonly file: string; readonly columnOffset: number },
): CompiledCode {
  return { script: new Script(source, { filename: file, columnOffset }) };
}

/** Returns the context in which the code that is running now was started. */
export function currentContext(): string | undefined {
  return CONTEXT.getStore();
}

/**
 * The bootstrap gets `ask` and `enter(context, work)`, defines globals, and returns a pair: the function that takes what is delivered, and
 * the one that starts the function that a piece of code evaluates to.
 */
export function createClosedRealm({ bootstrap, ask, onStray }: RealmParts): ClosedRealm {
  // Without a prototype, because the realm finds members of this object and of its prototypes behind its own globals.
  const globals = createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } });
  const promises = new Script('Promise.prototype').runInContext(globals) as object;
  const enter = (context: string, work: () => void): void => CONTEXT.run(context, work);
  const make = new Script(bootstrap, { filename: 'mlld:workflow' }).runInContext(globals) as (
    ask: Ask,
    enter: (context: string, work: () => void) => void,
  ) => { readonly 0: (...texts: readonly string[]) => void; readonly 1: (body: unknown) => void };
  const { 0: take, 1: start } = make(ask, enter);
  const close = watchStrays(promises, onStray);
  return {
    deliver: (texts, context) =>
      OUTSIDE.runInAsyncScope(() => (context === undefined ? take(...texts) : CONTEXT.run(context, () => take(...texts)))),
    start: ({ script }, context) =>
      OUTSIDE.runInAsyncScope(() => {
        const body: unknown = script.runInContext(globals);
        CONTEXT.run(context, () => start(body));
      }),
    close,
  };
}

/** Without a listener, Node ends the program. For a promise of anyone else it still does, unless another listener is there. */
function watchStrays(promises: object, onStray: (message: string) => void): () => void {
  const strayOfRealm = (reason: unknown, promise: unknown): void => {
    const isOurs = typeof promise === 'object' && promise !== null && Object.prototype.isPrototypeOf.call(promises, promise);
    if (isOurs) return onStray(messageWithinRealm(reason));
    const [first, ...others] = process.listeners('unhandledRejection');
    if (first === strayOfRealm && others.every(({ name }) => name === strayOfRealm.name)) throw reason;
  };
  process.on('unhandledRejection', strayOfRealm);
  return () => void process.off('unhandledRejection', strayOfRealm);
}

/** Returns the message of what code of the realm threw. Reading it may run code of the realm, which may throw as well. */
function messageWithinRealm(reason: unknown): string {
  try {
    const { message = reason } = (typeof reason === 'object' && reason !== null ? reason : {}) as { readonly message?: unknown };
    return String(message);
  } catch {
    return 'an error that can not be shown';
  }
}
