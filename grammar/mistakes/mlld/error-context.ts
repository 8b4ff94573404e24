/** Describes the place of a mistake, and provides the small tools that recognise mistakes. */
import { SyntaxFailure } from '../../errors.js';
import { locate } from '../../locate.js';
import { foreignWords, statementWords, topLevelWords, transformerNames } from '../../keywords.js';

export interface ErrorContext {
  readonly text: string;
  readonly at: number;
  /** The beginning of the innermost statement that was begun. */
  readonly statementAt: number;
  /** The beginning of the statement that opened the innermost bracket; then the bracket. */
  readonly openedAt: number;
  readonly bracketAt: number;
  /** The furthest offset at which something was expected and not found. */
  readonly furthest: number;
}

export const words = new Set<string>(statementWords);
export const foreign = new Set<string>(foreignWords);
export const topLevel = new Set<string>(topLevelWords);
/** Words that may begin a value. */
export const valueWord =
  /^(?:when|for|foreach|loop|run|cmd|sh|bash|js|javascript|node|py|python|stream|new|template|true|false|null|denied)$/;
export const builtIn = new Set<string>(transformerNames);

export function fail(at: number, message: string, hint?: string): never {
  throw new SyntaxFailure(message, { at, hint });
}

export function look(pattern: RegExp, { text, at }: Pick<ErrorContext, 'text' | 'at'>): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

export function pastBlanks(context: ErrorContext): ErrorContext {
  return { ...context, at: context.at + (look(/[ \t\r]*/y, context)?.[0].length ?? 0) };
}

/** True at the end of the file, or of the fence of a script in a Markdown file. */
export function atEnd({ text, at }: Pick<ErrorContext, 'text' | 'at'>): boolean {
  return at >= text.length || (text.startsWith('```', at) && /(?:^|\n)$/.test(text.slice(Math.max(0, at - 1), at)));
}

/** Operators of other languages, and what mlld has instead. */
const operators: readonly (readonly [written: RegExp, ours: string])[] = [
  [/===/y, '=='],
  [/!==/y, '!='],
  [/<>/y, '!='],
  [/=</y, '<='],
  [/and(?![\w-])/y, '&&'],
  [/or(?![\w-])/y, '||'],
  [/\|>/y, '|'],
  [/&(?!&)/y, '&&'],
  [/is(?![\w-])/y, '=='],
  [/mod(?![\w-])/y, '%'],
];

/** Refuses, behind a complete value, an operator of another language. */
export function otherOperator(context: Pick<ErrorContext, 'text' | 'at'>): void {
  for (const [pattern, ours] of operators) {
    const written = look(pattern, context)?.[0];
    if (written) fail(context.at, `\`${written}\` is not an operator`, `write \`${ours}\``);
  }
}

/** Refuses, directly behind a name, a letter that can't be part of it. */
export function otherLetter({ text, at }: Pick<ErrorContext, 'text' | 'at'>): void {
  const letter = look(/\p{L}/uy, { text, at })?.[0];
  if (letter && /[A-Za-z0-9_]/.test(text.charAt(at - 1)))
    fail(at, `\`${letter}\` can't be part of a name`, 'names are made of the letters a to z, digits, `_` and `-`');
}

/**
 * Reports that the innermost bracket is not closed. Where an inner one stands further to the right than the bracket that closes it, that
 * one lacks its own: every bracket below closes the one around the right one, and the outermost is left over.
 */
export function unclosedBracket({ text, bracketAt }: ErrorContext, message: string): never {
  const skipped = skippedOpener(text, bracketAt, '[', ']');
  if (skipped === undefined) fail(bracketAt, message);
  fail(skipped, message, byIndentation(']', lineOf(text, bracketAt)));
}

/**
 * Reports the innermost bracket as unclosed where the line at `at`, which cannot be inside it, is indented no further than the line of the
 * bracket, and the first line inside it is.
 */
export function unclosedByIndentation({ text, at, bracketAt }: Pick<ErrorContext, 'text' | 'at' | 'bracketAt'>, message: string): void {
  const blanks = blanksBefore(text, at);
  const inside = /\n([ \t]*)\S/.exec(text.slice(bracketAt, at))?.[1]?.length ?? 0;
  if (blanks === undefined || blanks > indentOf(text, bracketAt) || inside <= blanks) return;
  fail(bracketAt, message, `line ${lineOf(text, at)} can't be inside, and by its indentation it is behind the block`);
}

/** Reports the innermost bracket where another kind of bracket closes what is around it. */
export function closedByAnother({ text, at, bracketAt }: ErrorContext, message: string): void {
  const closer = look(/[\])}]/y, { text, at })?.[0];
  if (closer === undefined) return;
  const { line, column } = locate(text, at);
  fail(bracketAt, message, `the \`${closer}\` in line ${line}, column ${column} does not close it`);
}

/** Returns how many blanks stand before the first word of a line, or undefined where `at` is behind another word. */
function blanksBefore(text: string, at: number): number | undefined {
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return before.trim() === '' ? before.length : undefined;
}

function indentOf(text: string, at: number): number {
  return look(/[ \t]*/y, { text, at: text.lastIndexOf('\n', at - 1) + 1 })?.[0].length ?? 0;
}

export function byIndentation(closer: string, line: number): string {
  return `by the indentation of the lines below; as it is, the \`${closer}\` is missing for line ${line}`;
}

/** Returns the first bracket below `from`, open at the end of its line, that one further to the left closes. */
export function skippedOpener(text: string, from: number, opener: string, closer: string): number | undefined {
  const open: { readonly at: number; readonly indent: number }[] = [];
  let at = text.indexOf('\n', from) + 1;
  if (at === 0 || text[from] !== opener) return undefined;
  for (const line of text.slice(at).split('\n')) {
    const indent = line.length - line.trimStart().length;
    if (line.trimStart().startsWith(closer)) {
      const closed = open.pop();
      if (closed && closed.indent > indent) return closed.at;
    }
    if (line.trimEnd().endsWith(opener)) open.push({ at: at + line.lastIndexOf(opener), indent });
    at += line.length + 1;
  }
  return undefined;
}

/** Returns the line, counted from 1. */
export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** Names the token at a place, for messages. */
export function describe(text: string, at: number): string {
  const strange = strangeCharacter(text, at);
  if (strange) return strange;
  const token = look(/[A-Za-z_][\w-]*|@[\w.-]*|\d[\w.]*|[=!<>&|+~?]+|\.\.\.|\S/uy, {
    text,
    at: at + (look(/[ \t\r]*/y, { text, at })?.[0].length ?? 0),
  })?.[0];
  if (token) return `\`${token}\``;
  return /\S/.test(text.slice(at)) ? 'the end of the line' : 'the end of the file';
}

/** Names a blank that is not a space, as text copied from a page has it, or an invisible character. */
export function strangeCharacter(text: string, at: number): string | undefined {
  const found = look(/(?![ \t\r\n])[\s\p{Cc}\p{Cf}]/uy, { text, at })?.[0];
  if (!found) return undefined;
  const code = `U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  return /[^\S\uFEFF]/.test(found) ? `the blank ${code}, which is not a space` : `the invisible character ${code}`;
}

export function pastSpace(context: ErrorContext): ErrorContext {
  return { ...context, at: context.at + (look(/[ \t\r\n]*/y, context)?.[0].length ?? 0) };
}
