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
}

export function sourceFiles(folders: readonly string[]): SourceFile[] {
  const patterns = folders.map((folder) => `${folder}/**/*.ts`);
  const paths = globSync(patterns, { cwd: PROJECT, ignore: ['grammar/generated/**', '**/*.d.ts'] }).sort();
  return paths.map((path) => {
    const text = readFileSync(join(PROJECT, path), 'utf8');
    return { path, text, code: withoutComments(text) };
  });
}

/** Strings, templates and regular expressions are skipped over first, since any of them may hold what looks like a comment. */
function withoutComments(text: string): string {
  const token =
    /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/|\/\*[^]*?\*\/|\/\/[^\n]*/g;
  return text.replace(token, (found) => (found.startsWith('//') || found.startsWith('/*') ? '' : found));
}
