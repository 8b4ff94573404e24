/**
 * A stranger finds the way: folders and files are small, a comment is a sentence, and the number of an invariant names one rule.
 *
 * A doc comment says what the name does not, with a subject, a verb and a consequence. One that begins with a noun clause ("What drops",
 * "Whether it is the same") leaves the reader to guess the verb.
 */
import { posix } from 'node:path';
import { expect, it } from 'vitest';

import { sourceFiles, type SourceFile } from './support/source-files.js';

const FILES_MAX = 20;
const LINES_MAX = 400;
const MEDIAN_MAX = 80;
const COLUMNS_MAX = 140;

/** Files longer than the limit, each with its reason. */
const LONG: { readonly [path: string]: string } = {
  'grammar/ast.ts': 'the table of nodes',
};

/** Files whose invariants have other numbers, each with its reason. */
const NUMBERED_OTHERWISE: { readonly [path: string]: string } = {
  'replay/reports/audit/verify.ts': 'V1 to V5 are values in `--json`',
};

const CLAUSE = /^(?:What|Whether|Where|How|Why|Which|Who|Whose|Of|With what|In what|By what|To what)\b/;
const NUMBER = /^([A-Z]+(?:-[A-Z]+)*-?\d+):? +(?=\S)/;
const UNIQUE_NUMBER = /^[A-Z]+(?:-[A-Z]+)*-\d+$/;
/** Names of standards and programs that look like the number of an invariant. */
const STANDARD = /^(?:UTF-?\d+|V8|ISO-\d+|SHA-?\d+|ES\d+|HTTP-\d+)$/;

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
  const clauses = withTests.flatMap(({ path, comments }) =>
    comments
      .flatMap(({ text }) => paragraphs(text))
      .filter((paragraph) => CLAUSE.test(paragraph))
      .map((paragraph) => `${path}: ${paragraph}`),
  );
  expect(clauses.join('\n')).toBe('');
});

it('gives classes methods instead of members that are arrow functions', () => {
  const arrow = /^  (?:private |protected |public )?(?:readonly )?\w+ = (?:async )?(?:\([^)]*\)|\w+)(?:: [^=]+)? =>/m;
  expect(arrow.test('class Attempt {\n  private readonly warn = (message: string): void => {')).toBe(true);
  // V8 allocates each of them among the old objects: with one in a class of each call, memory of ten thousand calls was held for long.
  const rooms = files.filter(({ path }) => /^(?:src|journal|replay)\//.test(path));
  expect(rooms.filter(({ text }) => arrow.test(text)).map(({ path }) => path)).toEqual([]);
});

it(`has no comment beyond column ${COLUMNS_MAX}`, () => {
  const long = withTests.flatMap(({ path, comments }) =>
    comments
      .filter(({ isTrailing }) => !isTrailing)
      .flatMap(({ text, column }) => text.split('\n').map((line, index) => (index === 0 ? ' '.repeat(column) : '') + line))
      .filter((line) => line.length > COLUMNS_MAX)
      .map((line) => `${path}: ${line}`),
  );
  expect(long.join('\n')).toBe('');
});

it('numbers each invariant once, after its subject', () => {
  const owners = new Map<string, string>();
  const faults: string[] = [];
  const program = new Set(files.flatMap(invariantsOf));
  for (const file of withTests) {
    if (file.path in NUMBERED_OTHERWISE) continue;
    for (const number of invariantsOf(file)) {
      if (file.path.startsWith('test/') && program.has(number)) continue; // a test repeats the rule that it holds
      if (!UNIQUE_NUMBER.test(number)) faults.push(`${file.path}: ${number} does not name its subject`);
      const owner = owners.get(number);
      if (owner !== undefined) faults.push(`${file.path}: ${number} is an invariant of ${owner}`);
      owners.set(number, file.path);
    }
  }
  expect(faults).toEqual([]);
  expect(owners.size).toBeGreaterThan(100);
});

/** Returns the numbers that the comment at the head of a file defines. */
function invariantsOf({ text, comments: [head] }: SourceFile): readonly string[] {
  if (head === undefined || !text.startsWith(head.text)) return [];
  return lines(head.text)
    .map((line) => NUMBER.exec(line)?.[1] ?? '')
    .filter((number) => number !== '' && !STANDARD.test(number));
}

/** Returns the paragraphs of a comment, and each of its numbered invariants, without the number. */
function paragraphs(comment: string): readonly string[] {
  const found: string[] = [];
  let isInside = false;
  for (const line of lines(comment)) {
    if (line === '') isInside = false;
    else if (!isInside || NUMBER.test(line)) {
      found.push(line.replace(NUMBER, ''));
      isInside = true;
    } else found.push(`${found.pop()} ${line}`);
  }
  return found;
}

function lines(comment: string): readonly string[] {
  return comment.split('\n').map((line) =>
    line
      .replace(/^\s*(?:\/\*+|\*\/|\*|\/\/)?/, '')
      .replace(/\*\/$/, '')
      .trim(),
  );
}
