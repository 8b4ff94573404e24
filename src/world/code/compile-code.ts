/**
 * Makes JavaScript bodies into functions that return their result (control.md 5.5):
 *
 * COMPILE-1 A body with a `return` of its own is compiled unchanged.
 * COMPILE-2 Without one the value of the last expression statement is the result. A body that is one expression, also one in braces, is
 *    that expression.
 * COMPILE-3 Otherwise `eval` returns the completion value of the body, which is just what the rule demands. `eval` cannot hold an
 *    `await`, so in a body that awaits the last statement is searched for and returned, if it is an expression.
 *
 * Only the engine's own parser decides about the text: variants of it are compiled to see whether they are valid.
 */
import type { Importing } from './importing.js';
import { scriptSyntaxError } from './script-syntax.js';

/** Parameters and body, as the constructors of functions take them. */
type Compile = (...texts: readonly string[]) => unknown;

/**
 * The two constructors of a realm: this one's, or those of a `vm` context. They show whether a text compiles. All calls go through
 * `importing`, because V8 keeps what it compiled: a text that was compiled from elsewhere would resolve `import()` as there.
 */
export interface Realm {
  readonly Function: Compile;
  readonly AsyncFunction: Compile;
  /** Makes the functions that are called. */
  readonly make: (timing: Timing, parameters: readonly string[], body: string) => unknown;
}

export type Timing = 'sync' | 'async';

/** A body that awaits is cut at so many places in search of its last statement. */
const CUTS_MAX = 2000;

export function realmOf(FunctionOfRealm: FunctionConstructor, importing: Importing): Realm {
  const sample = FunctionOfRealm('return async function () {}') as () => { constructor: FunctionConstructor };
  const AsyncFunction = sample().constructor;
  const through = (constructor: FunctionConstructor): Compile => {
    return (...texts) => importing.make(constructor, texts);
  };
  const [sync, async] = [through(FunctionOfRealm), through(AsyncFunction)];
  return {
    Function: sync,
    AsyncFunction: async,
    make: (timing, parameters, body) => (timing === 'sync' ? sync : async)(...parameters, body),
  };
}

/** Returns the text of a function body that returns the result of `code`. Throws the engine's SyntaxError. */
export function resultBody(code: string, parameters: readonly string[], timing: Timing, realm: Realm): string {
  const make = timing === 'sync' ? realm.Function : realm.AsyncFunction;
  const compiles = (body: string): boolean => syntaxError(make, parameters, body) === undefined;
  const error = syntaxError(make, parameters, code);
  if (error !== undefined) {
    const object = asObject(code, compiles);
    if (object !== undefined) return object;
    throw error;
  }
  if (hasReturn(code)) return code;
  const expression = asExpression(code, compiles);
  if (expression !== undefined) return expression;
  if (!/\bawait\b/.test(code) || syntaxError(realm.Function, parameters, code) === undefined) return `return eval(${JSON.stringify(code)})`;
  return lastReturned(code, compiles) ?? code;
}

/** True for names that a function can have as parameters: no reserved words, no hyphens. */
export function isBindable(name: string, realm: Realm): boolean {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) && syntaxError(realm.AsyncFunction, [name], '') === undefined;
}

function syntaxError(make: Compile, parameters: readonly string[], body: string): unknown {
  try {
    make(...parameters, body);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** `{ a: 1, b: 2 }` is not a statement, but clearly means the object: returns a body that returns it, undefined for another text. */
export function asObject(code: string, compiles: (body: string) => boolean): string | undefined {
  return /^\s*\{/.test(code) ? asExpression(code, compiles) : undefined;
}

/** Returns a body that returns `code`; undefined when that is not exactly one expression. */
function asExpression(code: string, compiles: (body: string) => boolean): string | undefined {
  if (isDeclaration(code)) return undefined;
  const whole = `return (${code}\n)`;
  if (compiles(whole)) return whole;
  const ended = `return (${code.replace(END_OF_STATEMENT, '')}\n)`;
  return compiles(ended) ? ended : undefined;
}

/** A script may not have a `return` of its own, and its functions may. `await` is replaced by `void`. */
function hasReturn(code: string): boolean {
  if (!code.includes('return')) return false;
  const script = code.replace(/\bfor(\s+)await\b/g, 'for$1').replace(/(?<![\w$.])await(?![\w$])/g, 'void ');
  return scriptSyntaxError(script) !== undefined;
}

const COMMENTS = String.raw`(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n|$))*`;
const DECLARATION = new RegExp(`^${COMMENTS}(?:async\\s+function|function|class)\\b`);
const END_OF_STATEMENT = new RegExp(`;(?:;|${COMMENTS})$`);
const LEADING_COMMENTS = new RegExp(`^${COMMENTS}`);

function isDeclaration(code: string): boolean {
  return DECLARATION.test(code);
}

/** Returns `code` with its last statement returned; undefined when that is not an expression. */
function lastReturned(code: string, compiles: (body: string) => boolean): string | undefined {
  let cuts = 0;
  for (let at = code.length - 1; at > 0 && cuts < CUTS_MAX; at--) {
    if (!/[;}\n]/.test(code[at - 1] ?? '')) continue;
    cuts++;
    const head = code.slice(0, at);
    const tail = code.slice(at);
    const last = asExpression(tail, compiles);
    if (last === undefined || !compiles(head)) continue;
    // Invalid text compiles only inside a comment or a string.
    if (compiles(`${head} @ ${tail}`)) continue;
    if (endsStatement(head, tail, compiles)) return `${head}\n${last}`;
  }
  return undefined;
}

/** Tells whether a statement ends between `head` and `tail`, each of which compiles alone. */
function endsStatement(head: string, tail: string, compiles: (body: string) => boolean): boolean {
  const before = head.trimEnd();
  if (before.endsWith(';')) return true;
  // These would continue an expression of the line before. `++` and `--` never do.
  const continues = /^(?:[([`/]|\+(?!\+)|-(?!-))/.test(tail.replace(LEADING_COMMENTS, ''));
  if (!continues && /\n\s*$/.test(head)) return true;
  // After a block another statement may follow on the same line, after an expression it may not.
  return before.endsWith('}') && !before.slice(before.lastIndexOf('\n') + 1).includes('//') && compiles(`${before} 0`);
}
