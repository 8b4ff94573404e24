/** Finds the line of a body in which an error was thrown, or which does not compile. `compile-code.ts` says what is made of a body. */
import { locate } from '../../../grammar/locate.js';
import { unclosedInCode } from '../../../grammar/mlld/code-end.js';
import { asObject } from './compile-code.js';
import { scriptSyntaxError } from './script-syntax.js';
import type { CodePlace } from '../world.js';

/** Says how a body was compiled: as an `eval`, or behind so many lines, and so many columns on its first line. */
export type BodyKind = { readonly isEval: true } | { readonly isEval: false; readonly lines: number; readonly columns: number };

/** `async function anonymous(a` and `) {` */
const HEAD_LINES = 2;
const RETURNED = 'return (';

/** Matches a place in a function that `importing.ts` made; in a nested `eval` the place of the `eval` stands in between. */
const MADE = /\(eval at exports\.make \(.*:\d+:\d+\), <anonymous>:(\d+):(\d+)\)$/;
const EVALUATED = /\(eval at .*\(eval at exports\.make \(.*:\d+:\d+\)\), <anonymous>:(\d+):(\d+)\)$/;

/** Returns undefined where lines of the compiled body are not those of the text. */
export function bodyKind(code: string, body: string, isWrapped: boolean): BodyKind | undefined {
  const lines = HEAD_LINES + Number(isWrapped);
  if (body === code) return { isEval: false, lines, columns: 0 };
  if (body.startsWith('return eval(')) return { isEval: true };
  return body.startsWith(RETURNED) ? { isEval: false, lines, columns: RETURNED.length } : undefined;
}

/** Errors of another realm are not instances of this realm's `Error`. */
export function placeInBody(error: unknown, kind: BodyKind, code: string): CodePlace | undefined {
  const stack = typeof error === 'object' && error !== null && 'stack' in error && typeof error.stack === 'string' ? error.stack : '';
  for (const frame of stack.split('\n')) {
    const found = (kind.isEval ? EVALUATED : MADE).exec(frame);
    if (found === null) continue;
    const line = Number(found[1]) - (kind.isEval ? 0 : kind.lines);
    const column = Number(found[2]) - (!kind.isEval && line === 1 ? kind.columns : 0);
    return line >= 1 && column >= 1 && line <= code.split('\n').length ? { line, column } : undefined;
  }
  return undefined;
}

/** Returns the offset in a text of a place in code that stands in it behind `from`; undefined where the text does not hold the code. */
export function offsetInText(
  { line, column }: CodePlace,
  { code, text, from }: { readonly code: string; readonly text: string; readonly from: number },
): number | undefined {
  const start = code === '' ? -1 : text.indexOf(code, from);
  if (start < 0) return undefined;
  const before = code.split('\n').slice(0, line - 1);
  return start + before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
}

/** Returns the bracket that nothing closes in code which does not compile: the engine says only where it noticed. */
export function unclosedBracket(code: string): (CodePlace & { readonly bracket: string }) | undefined {
  const at = unclosedInCode(`${code}}`, 0, 'js');
  return at === undefined ? undefined : { ...locate(code, at), bracket: code.charAt(at) };
}

/** The engine writes the line above its message, and signs below the part that it means. */
const REFUSED = /^body:(\d+)\n.*\n( *)\^/;

/** Only a script has the place of an error of syntax in its stack; a body of a function may hold more than a script. */
export function placeOfSyntaxError(code: string): CodePlace | undefined {
  return syntaxErrorInScript(`(async () => {\n${code}\n})`, code)?.place;
}

interface Refusal {
  /** As the engine words it. */
  readonly message: string;
  readonly place: CodePlace | undefined;
}

/**
 * Returns why a body will not compile (`compile-code.ts`); undefined for one that will. Nothing is run. The engine's own parser decides, in
 * a script: what `importing.ts` compiles later is compiled anew.
 */
export function syntaxErrorOf(code: string, parameters: readonly string[]): Refusal | undefined {
  const refusalOf = (body: string, start = 'async function'): Refusal | undefined =>
    syntaxErrorInScript(`(${start} (${parameters.filter(isName).join(', ')}) {\n${body}\n})`, code);
  const refusal = refusalOf(code);
  const compiles = (body: string): boolean => refusalOf(body) === undefined;
  // A function that others call may be one that is not `async`, in which `await` is a name.
  if (refusal === undefined || asObject(code, compiles) !== undefined || refusalOf(code, 'function') === undefined) return undefined;
  const unclosed = unclosedBracket(code);
  return unclosed ? { message: `this \`${unclosed.bracket}\` is not closed`, place: unclosed } : refusal;
}

/** Most names are made of these; the engine takes longer to prepare the classes of Unicode than to compile a body. */
const PLAIN_NAME = /^[A-Za-z$_][\w$]*$/;

function isName(name: string): boolean {
  return (
    (PLAIN_NAME.test(name) || /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) &&
    syntaxErrorInScript(`(async function (${name}) {})`, '') === undefined
  );
}

/** The body is behind the first line of the script. */
function syntaxErrorInScript(script: string, code: string): Refusal | undefined {
  const error = scriptSyntaxError(script, { filename: 'body' });
  if (error === undefined) return undefined;
  const found = REFUSED.exec(error.stack ?? '');
  const line = Number(found?.[1]) - 1;
  const lines = code.split('\n');
  // The engine notices behind the body that its end is missing.
  const end = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  const place = line > lines.length ? end : line >= 1 ? { line, column: (found?.[2] ?? '').length + 1 } : undefined;
  return { message: error.message, place };
}
