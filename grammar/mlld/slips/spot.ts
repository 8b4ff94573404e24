/** Where the parser stands when something is missing, and the small tools with which a slip is recognised. */
import { SyntaxFailure } from '../../errors.js';
import { foreignWords, statementWords, topLevelWords, transformerNames } from '../../keywords.js';

export interface Spot {
  readonly text: string;
  readonly at: number;
  /** Where the innermost statement that was begun begins. */
  readonly statementAt: number;
  /** Where the statement begins that opened the innermost bracket. */
  readonly openedAt: number;
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

export function look(pattern: RegExp, { text, at }: Pick<Spot, 'text' | 'at'>): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

export function pastBlanks(spot: Spot): Spot {
  return { ...spot, at: spot.at + (look(/[ \t\r]*/y, spot)?.[0].length ?? 0) };
}

/** Is this the end of the file, or of the fence in a Markdown file that a script stands in? */
export function atEnd({ text, at }: Pick<Spot, 'text' | 'at'>): boolean {
  return at >= text.length || (text.startsWith('```', at) && /(?:^|\n)$/.test(text.slice(Math.max(0, at - 1), at)));
}

/** What stands at a place, for messages. */
export function describe(text: string, at: number): string {
  const token = look(/[A-Za-z_][\w-]*|@[\w.-]*|\d[\w.]*|[=!<>&|+~?]+|\.\.\.|\S/y, {
    text,
    at: at + (look(/[ \t\r]*/y, { text, at })?.[0].length ?? 0),
  })?.[0];
  if (token) return `\`${token}\``;
  return /\S/.test(text.slice(at)) ? 'the end of the line' : 'the end of the file';
}

export function pastSpace(spot: Spot): Spot {
  return { ...spot, at: spot.at + (look(/[ \t\r\n]*/y, spot)?.[0].length ?? 0) };
}
