/** Finds the line of a body in which an error was thrown. `compile-code.ts` says what is made of a body. */
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
