/** Finds the line of a body in which an error was thrown, or which does not compile. `compile-code.ts` says what is made of a body. */
import { Script } from 'node:vm';
import { locate } from '../../../grammar/locate.js';
import { unclosedInCode } from '../../../grammar/mlld/code-end.js';
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

/** Returns the bracket that nothing closes in code which does not compile: the engine says only where it noticed. */
export function unclosedBracket(code: string): (CodePlace & { readonly bracket: string }) | undefined {
  const at = unclosedInCode(`${code}}`, 0, 'js');
  return at === undefined ? undefined : { ...locate(code, at), bracket: code.charAt(at) };
}

/** The engine writes the line above its message, and signs below the part that it means. */
const REFUSED = /^body:(\d+)\n.*\n( *)\^/;
const IN_FUNCTION = '(async () => {\n';

/** Only a script has the place of an error of syntax in its stack; a body of a function may hold more than a script. */
export function placeOfSyntaxError(code: string): CodePlace | undefined {
  try {
    new Script(`${IN_FUNCTION}${code}\n})`, { filename: 'body' });
    return undefined;
  } catch (error) {
    const found = REFUSED.exec((error as Error).stack ?? '');
    const line = Number(found?.[1]) - 1;
    return line >= 1 && line <= code.split('\n').length ? { line, column: (found?.[2] ?? '').length + 1 } : undefined;
  }
}
