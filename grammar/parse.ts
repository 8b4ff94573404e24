/**
 * Text in, tree out: limits first, then the generated parser, then its errors turned into ours. The only file that
 * imports generated parsers.
 */
import type { Expression, Script, Template } from './ast.js';
import { columnsOf } from './columns.js';
import { SyntaxFailure } from './errors.js';
import * as generated from './generated/mlld.js';
import { locate } from './locate.js';
import * as ahead from './mlld/lookahead.js';
import * as build from './mlld/build.js';
import { codeEnd } from './mlld/code-end.js';

import * as slip from './mistakes/mlld/recognisers.js';

export { locate } from './locate.js';

/** Sources above this size are refused. Far above what a person writes, far below what would exhaust the memory. */
const SOURCE_CHARS_MAX = 16 * 1024 * 1024;
/** At most so many alternatives are named in a message. */
const ALTERNATIVES_MAX = 5;

/**
 * @param text a whole file, with or without byte order mark; LF or CRLF
 * @throws SyntaxFailure for the first mistake
 */
export function parseScript(text: string, { mode }: { readonly mode: Script['mode'] }): Script {
  return parse(text, mode === 'strict' ? 'Strict' : 'Markdown') as Script;
}

/** A template file; the final newline is part of its text. Throws SyntaxFailure. */
export function parseTemplateFile(text: string, kind: 'att' | 'mtt'): Template {
  return parse(text, kind === 'att' ? 'AttFile' : 'MttFile') as Template;
}

/** One value and nothing else. Throws SyntaxFailure. */
export function parseExpression(text: string): Expression {
  return parse(text, 'Lone') as Expression;
}

/** A longer line is shown around the place only. */
const FRAME_COLUMNS = 160;

/** The line of an offset with a caret below it and the line before it above. */
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

/** As many columns of blanks as the text takes on a screen; tabs stay tabs, however wide they are. */
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
    ahead,
    build,
    codeEnd,
    slip,
  };
  try {
    return generated.parse(text, options);
  } catch (error) {
    throw atInk(toFailure(error, text, options.progress?.() ?? 0), text);
  }
}

/** What is missing at the end of the file is missing behind its last word, not on the empty line below. */
function atInk(error: unknown, text: string): unknown {
  const end = text.trimEnd().length;
  if (!(error instanceof SyntaxFailure) || error.at <= end) return error;
  return new SyntaxFailure(error.message, { code: error.code, at: end, hint: error.hint });
}

function toFailure(error: unknown, text: string, statementAt: number): unknown {
  const at = error instanceof generated.SyntaxError ? error.location.start.offset : error instanceof SyntaxFailure ? error.at : undefined;
  const strange = at === undefined ? undefined : slip.strangeCharacter(text, at);
  // Whatever was expected: nobody sees what is there.
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
  const names = [...new Set((error.expected ?? []).flatMap(nameOf))].toSorted(
    (a, b) => Number(a.startsWith('`')) - Number(b.startsWith('`')),
  );
  const found = slip.describe(text, at);
  const message =
    names.length === 0 || names.length > ALTERNATIVES_MAX
      ? `Unexpected ${found.replace(/^the /, '')}`
      : `Expected ${list(names)}, found ${found}`;
  return new SyntaxFailure(message, { at });
}

function nameOf(expected: generated.Expectation): string[] {
  if (expected.type === 'literal' && expected.text?.trim()) return [`\`${expected.text}\``];
  if (expected.type === 'other' && expected.description && !/blank|line end|comment/.test(expected.description))
    return [`a ${expected.description}`];
  return [];
}

function list(names: readonly string[]): string {
  return names.length === 1 ? String(names[0]) : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
