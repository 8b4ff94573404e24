/** Where the parser stands when something is missing, and the small tools with which a slip is recognised. */
import { SyntaxFailure } from '../../errors.js';
import { foreignWords, statementWords, topLevelWords, transformerNames } from '../../keywords.js';

export interface ErrorContext {
  readonly text: string;
  readonly at: number;
  /** Where the innermost statement that was begun begins. */
  readonly statementAt: number;
  /** Where the statement begins that opened the innermost bracket, and the bracket itself. */
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

export function pastBlanks(spot: ErrorContext): ErrorContext {
  return { ...spot, at: spot.at + (look(/[ \t\r]*/y, spot)?.[0].length ?? 0) };
}

/** Is this the end of the file, or of the fence in a Markdown file that a script stands in? */
export function atEnd({ text, at }: Pick<ErrorContext, 'text' | 'at'>): boolean {
  return at >= text.length || (text.startsWith('```', at) && /(?:^|\n)$/.test(text.slice(Math.max(0, at - 1), at)));
}

/**
 * What was opened at `opener` is not closed: told of there when that is on the first line of the statement, else at the statement,
 * with the line where it begins.
 */
export function unclosed(
  { text }: Pick<ErrorContext, 'text'>,
  from: { statementAt: number; opener: number },
  message: string,
  hint?: string,
): never {
  const { statementAt, opener } = from;
  if (!text.slice(statementAt, opener).includes('\n')) fail(opener, message, hint);
  fail(statementAt, message, `it begins in line ${lineOf(text, opener)}${hint ? `; ${hint}` : ''}`);
}

/** Operators of other languages. */
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

/** Behind a complete value: an operator that is written otherwise here. */
export function otherOperator(spot: Pick<ErrorContext, 'text' | 'at'>): void {
  for (const [pattern, ours] of operators) {
    const written = look(pattern, spot)?.[0];
    if (written) fail(spot.at, `\`${written}\` is no operator`, `write \`${ours}\``);
  }
}

/** Directly behind a name: a letter that can't be part of it. */
export function otherLetter({ text, at }: Pick<ErrorContext, 'text' | 'at'>): void {
  const letter = look(/\p{L}/uy, { text, at })?.[0];
  if (letter && /[A-Za-z0-9_]/.test(text.charAt(at - 1)))
    fail(at, `\`${letter}\` can't be part of a name`, 'names are made of the letters a to z, digits, `_` and `-`');
}

/** The innermost bracket that is open. */
export function unclosedBracket(spot: ErrorContext, message: string): never {
  unclosed(spot, { statementAt: spot.openedAt, opener: spot.bracketAt }, message);
}

/** Counted from 1. */
export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** What stands at a place, for messages. */
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

/** A blank that is no space, as it comes with text copied from a page, or a character that nobody sees: what to call it. */
export function strangeCharacter(text: string, at: number): string | undefined {
  const found = look(/(?![ \t\r\n])[\s\p{Cc}\p{Cf}]/uy, { text, at })?.[0];
  if (!found) return undefined;
  const code = `U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  return /[^\S\uFEFF]/.test(found) ? `the blank ${code}, which is no space` : `the invisible character ${code}`;
}

export function pastSpace(spot: ErrorContext): ErrorContext {
  return { ...spot, at: spot.at + (look(/[ \t\r\n]*/y, spot)?.[0].length ?? 0) };
}
