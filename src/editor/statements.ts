/** The extent of statements, and the comments above them. */
import type { Statement } from '../../grammar/ast.js';
import type { ParsedScript } from '../validate/rule.js';
import { topLevel } from '../validate/top-level.js';

export interface Extent {
  readonly statement: Statement;
  readonly from: number;
  readonly to: number;
}

const COMMENT = /^[ \t]*(?:>>|<<|#)[ \t]?(.*)$/;

/** Returns the statements of a file, each up to the blank lines and comments before the next. */
export function extentsOf({ script, text }: ParsedScript): readonly Extent[] {
  const statements = topLevel(script).filter(({ kind }) => kind !== 'prose');
  return statements.map((statement, index) => {
    const next = statements[index + 1]?.at ?? text.length;
    const lines = text.slice(statement.at, next).split('\n');
    while (lines.length > 1 && (lines.at(-1)?.trim() === '' || COMMENT.test(lines.at(-1) ?? ''))) lines.pop();
    const to = statement.at + lines.join('\n').trimEnd().length;
    return { statement, from: statement.at, to };
  });
}

/** Returns the text of the comment lines directly above a place, without their signs. */
export function commentAbove(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n').slice(0, -1);
  const found: string[] = [];
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const comment = COMMENT.exec(line);
    if (!comment) break;
    found.unshift(comment[1] ?? '');
  }
  return found.join('\n').trim();
}
