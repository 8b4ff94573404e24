/**
 * Parses scripts: checks limits, calls the generated parser and turns its errors into `SyntaxFailure`s. Only this file imports the
 * generated parser of the language.
 */
import { alternatives } from './alternatives.js';
import type { Expression, Script, Template } from './ast.js';
import { columnsOf } from './columns.js';
import { SyntaxFailure } from './errors.js';
import * as generated from './generated/mlld.js';
import { locate } from './locate.js';
import * as lookahead from './mlld/lookahead.js';
import * as build from './mlld/build.js';
import { codeEnd } from './mlld/code-end.js';

import * as mistake from './mistakes/mlld/recognisers.js';

export { locate } from './locate.js';

/** A longer source is refused: far more than a person writes, far less than would exhaust the memory. */
const SOURCE_CHARS_MAX = 16 * 1024 * 1024;

/**
 * @param text a whole file, with or without byte order mark; LF or CRLF
 * @throws SyntaxFailure for the first mistake
 */
export function parseScript(text: string, { mode }: { readonly mode: Script['mode'] }): Script {
  return parse(text, mode === 'strict' ? 'Strict' : 'Markdown') as Script;
}

/** Parses a template file; the final newline is part of its text. Throws SyntaxFailure. */
export function parseTemplateFile(text: string, kind: 'att' | 'mtt'): Template {
  return parse(text, kind === 'att' ? 'AttFile' : 'MttFile') as Template;
}

/** Parses one value and nothing else. Throws SyntaxFailure. */
export function parseExpression(text: string): Expression {
  return parse(text, 'Lone') as Expression;
}

/** Shows only so many columns of a longer line, around the mistake. */
const FRAME_COLUMNS = 160;

/** Returns the line of an offset with a caret below it and the line before it above. */
export function codeFrame(text: string, at: number): string {
  const { line, column } = locate(text, at);
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const width = String(line).length;
  const from = Math.max(0, column - FRAME_COLUMNS / 2);
  const shown = (whole: string): string => {
    const part = whole.slice(from, from + FRAME_COLUMNS);
    return `${from > 0 && part !== '' ? '…' : ''}${part}${whole.length > from + FRAME_COLUMNS ? '…' : ''}`;
  };
  const show = (n: number) => `${String(n).padStart(width)} | ${shown(lines[n - 1] ?? '')}`;
  const indent = blanksFor(shown((lines[line - 1] ?? '').slice(0, column - 1)));
  const caret = `${' '.repeat(width)} | ${indent}^`;
  return [...(line > 1 ? [show(line - 1)] : []), show(line), caret].join('\n');
}

/** Returns as many columns of blanks as the text takes on a screen; tabs are kept, however wide they are. */
function blanksFor(text: string): string {
  const parts = text.split('\t');
  return parts.map((part) => ' '.repeat(columnsOf(part))).join('\t');
}

function parse(text: string, startRule: generated.StartRule): unknown {
  if (text.length > SOURCE_CHARS_MAX) {
    throw new SyntaxFailure(`The source is longer than ${SOURCE_CHARS_MAX} characters`, { code: 'SOURCE_TOO_LARGE', at: 0 });
  }
  const options: { startRule: generated.StartRule; progress?: () => number } & Record<string, unknown> = {
    startRule,
    lookahead,
    build,
    codeEnd,
    mistake,
  };
  try {
    return generated.parse(text, options);
  } catch (error) {
    throw atInk(toFailure(error, text, options.progress?.() ?? 0), text);
  }
}

/** Moves an error at the end of the file behind its last word, off the empty line below. */
function atInk(error: unknown, text: string): unknown {
  const end = text.trimEnd().length;
  if (!(error instanceof SyntaxFailure) || error.at <= end) return error;
  return new SyntaxFailure(error.message, { code: error.code, at: end, hint: error.hint });
}

function toFailure(error: unknown, text: string, statementAt: number): unknown {
  const at = error instanceof generated.SyntaxError ? error.location.start.offset : error instanceof SyntaxFailure ? error.at : undefined;
  const strange = at === undefined ? undefined : mistake.strangeCharacter(text, at);
  // The message names the character instead of what was expected, because it is invisible.
  if (at !== undefined && strange)
    return new SyntaxFailure(`Unexpected ${strange.replace('the ', '')}`, { at, hint: 'delete it, or write a space' });
  if (error instanceof generated.SyntaxError) return unexpected(error, text);
  // The generated parser descends with the nesting of the source; its stack is the limit of that.
  if (error instanceof RangeError) {
    return new SyntaxFailure('The source is nested too deeply', {
      code: 'NESTED_TOO_DEEPLY',
      at: statementAt,
      hint: 'bind inner parts to variables',
    });
  }
  return error;
}

function unexpected(error: generated.SyntaxError, text: string): SyntaxFailure {
  const at = error.location.start.offset;
  const expected = alternatives(error.expected ?? []);
  const found = mistake.describe(text, at);
  return new SyntaxFailure(expected === undefined ? `Unexpected ${found.replace(/^the /, '')}` : `Expected ${expected}, found ${found}`, {
    at,
  });
}
