/**
 * A stranger finds the way: folders and files are small, and a comment is a sentence.
 *
 * A doc comment says what the name does not, with a subject, a verb and a consequence. One that begins with a noun clause ("What drops",
 * "Whether it is the same") leaves the reader to guess the verb.
 */
import { posix } from 'node:path';
import { expect, it } from 'vitest';

import { sourceFiles } from './support/source-files.js';

const FILES_MAX = 20;
const LINES_MAX = 400;
const MEDIAN_MAX = 80;

/** Longer than the limit, each with its reason. */
const LONG: { readonly [path: string]: string } = {
  'grammar/ast.ts': 'the table of nodes',
};

/** Comments that begin like a noun clause and are none, each with its reason. */
const SENTENCES: { readonly [comment: string]: string } = {};

const CLAUSE = /^(?:[A-Z]+-?\d+ +)?(?:What|Whether|Where|How|Why|Which|Who|Whose|Of|With what|In what|By what|To what)\b/;

const files = sourceFiles(['src', 'replay', 'journal', 'cli', 'grammar', 'viewer']);
const withTests = [...files, ...sourceFiles(['test'])].filter(({ path }) => !path.startsWith('test/conformance/'));

it(`has at most ${FILES_MAX} files in a folder`, () => {
  const folders = new Map<string, number>();
  for (const { path } of withTests) folders.set(posix.dirname(path), (folders.get(posix.dirname(path)) ?? 0) + 1);
  expect([...folders].filter(([, count]) => count > FILES_MAX)).toEqual([]);
});

it(`has at most ${LINES_MAX} lines in a file, and ${MEDIAN_MAX} in most`, () => {
  const lines = files.map(({ path, text }) => ({ path, count: text.split('\n').length - 1 }));
  expect(lines.filter(({ path, count }) => count > LINES_MAX && !(path in LONG))).toEqual([]);
  const counts = lines.map(({ count }) => count).sort((left, right) => left - right);
  expect(counts[Math.floor(counts.length / 2)]).toBeLessThanOrEqual(MEDIAN_MAX);
});

it('begins no comment with a noun clause', () => {
  const clauses = withTests.flatMap(({ path, text }) =>
    commentsIn(text)
      .filter((comment) => CLAUSE.test(comment) && !(comment in SENTENCES))
      .map((comment) => `${path}: ${comment}`),
  );
  expect(clauses.join('\n')).toBe('');
});

/** The first line of each doc comment, of each numbered invariant in one, and of each run of line comments. */
function commentsIn(text: string): string[] {
  const found: string[] = [];
  let isInside = false;
  let wasComment = false;
  for (const line of text.split('\n')) {
    const opening = /^\s*\/\*\*? ?(.*?)(?:\*\/)?$/.exec(line);
    const own = /^\s*\/\/ (.*)$/.exec(line);
    const trailing = /\S.*\s\/\/ (.*)$/.exec(line);
    const inner = isInside ? /^\s*\*(?!\/) ?(.*)$/.exec(line) : undefined;
    if (opening) {
      if (opening[1]?.trim()) found.push(opening[1].trim());
      isInside = !line.includes('*/');
      wasComment = isInside && !opening[1]?.trim();
      continue;
    }
    if (inner?.[1] !== undefined) {
      if (wasComment || /^[A-Z]+-?\d+ /.test(inner[1])) found.push(inner[1].trim());
      wasComment = inner[1].trim() === '';
    }
    if (line.includes('*/')) isInside = false;
    if (isInside) continue;
    if (own?.[1] && !wasComment) found.push(own[1]);
    if (trailing?.[1] && !own && !/['"`]/.test(trailing[1])) found.push(trailing[1]);
    wasComment = own !== null;
  }
  return found;
}
