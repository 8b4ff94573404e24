/** The project's own TypeScript sources, for tests that hold rules over all of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  /** Without comments, so that a word in a sentence breaks no rule. Strings stay. */
  readonly code: string;
  readonly text: string;
  /** In order; line comments in one column below each other are one comment. */
  readonly comments: readonly Comment[];
}

export interface Comment {
  /** As it is written, markers included. */
  readonly text: string;
  /** The characters before it on its line. */
  readonly column: number;
  /** Code is before it on its line. */
  readonly isTrailing: boolean;
}

export function sourceFiles(folders: readonly string[]): SourceFile[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,tsx}`);
  const paths = globSync(patterns, { cwd: PROJECT, ignore: ['grammar/generated/**', '**/*.d.ts'] }).sort();
  return paths.map((path) => {
    const text = readFileSync(join(PROJECT, path), 'utf8');
    return { path, text, code: withoutComments(text), comments: commentsOf(text) };
  });
}

/** Strings, templates and regular expressions are tokens too, since any of them may hold what looks like a comment. */
const TOKEN =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/|\/\*[^]*?\*\/|\/\/[^\n]*/g;

function withoutComments(text: string): string {
  return text.replace(TOKEN, (found) => (isComment(found) ? '' : found));
}

function commentsOf(text: string): Comment[] {
  const comments: Comment[] = [];
  let end = -1;
  for (const { 0: found, index } of text.matchAll(TOKEN)) {
    if (!isComment(found)) continue;
    const last = comments.at(-1);
    const lineStart = text.lastIndexOf('\n', index) + 1;
    const column = index - lineStart;
    const isTrailing = text.slice(lineStart, index).trim() !== '';
    const between = end < 0 ? '' : text.slice(end, index);
    if (last?.text.startsWith('//') && found.startsWith('//') && /^\n *$/.test(between) && last.column === column)
      comments[comments.length - 1] = { text: `${last.text}${between}${found}`, column, isTrailing };
    else comments.push({ text: found, column, isTrailing });
    end = index + found.length;
  }
  return comments;
}

function isComment(token: string): boolean {
  return token.startsWith('//') || token.startsWith('/*');
}
