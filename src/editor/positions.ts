/** Positions in a text as editors count them: from zero, in UTF-16 units, with LF or CRLF at the end of a line. */

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** A word at a place: `@name`, `name`, or one character. A quoted text or a number is marked up to its end. */
const WORD = /@?[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*|"[^"\n]*"?|'[^'\n]*'?|`|[^\s]/uy;

function positionAt(text: string, at: number): Position {
  const before = text.slice(0, at);
  return { line: before.split('\n').length - 1, character: at - (before.lastIndexOf('\n') + 1) };
}

/** Returns an offset inside the text for every position: a line that is not there is the end, a column behind the line its end. */
export function offsetAt(text: string, { line, character }: Position): number {
  let start = 0;
  for (let number = 0; number < line; number++) {
    const end = text.indexOf('\n', start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  return Math.min(start + character, end < 0 ? text.length : end);
}

export function rangeOf(text: string, from: number, to: number): Range {
  return { start: positionAt(text, from), end: positionAt(text, to) };
}

/** Returns the range of the word that a finding is about. */
export function rangeOfWord(text: string, at: number): Range {
  WORD.lastIndex = at;
  return rangeOf(text, at, at + (WORD.exec(text)?.[0].length ?? 0));
}
