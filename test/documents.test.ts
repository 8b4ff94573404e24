/** The documents name files that exist, and their prose fits a screen. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

import { PROJECT } from './support/source-files.js';

const COLUMNS_MAX = 120;

const PAGES = globSync(
  [
    'README.md',
    'docs/*.md',
    'docs/guide/*.md',
    'journal/README.md',
    'bench/README.md',
    'examples/*/README.md',
    'examples/cookbook/*/README.md',
  ],
  {
    cwd: PROJECT,
  },
).sort();

/** `src/a/b.ts`, `docs/errors.md`, `test/crash/`: a folder of the repository, then a path without placeholders. */
const PATH = /`((?:src|replay|journal|cli|grammar|viewer|test|docs|bench|examples)\/[\w./-]*)`/g;

/** Folders that exist only after something ran. */
const MADE_BY_RUNNING = ['bench/out'];

/** Pages whose prose wraps: README and the pages directly in docs. */
const WRAPPED_PAGES = PAGES.filter((page) => page === 'README.md' || page.startsWith('docs/'));

/** Returns the numbers of the lines of prose that are too long. Tables, fences, comments and lines that are one link may be longer. */
function longLines(text: string): number[] {
  let isFenced = false;
  const numbers: number[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const isFence = /^\s*```/.test(line);
    if (isFence) isFenced = !isFenced;
    if (isFence || isFenced || /^(?:\||<!--)/.test(line)) continue;
    const canBreak = /\S\s+\S/.test(line.replace(/^\s*([-*]|\d+\.)\s+/, ''));
    if ([...line].length > COLUMNS_MAX && canBreak) numbers.push(index + 1);
  }
  return numbers;
}

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(join(PROJECT, page), 'utf8');

  it('names files and folders that exist', () => {
    const lost = [...text.matchAll(PATH)]
      .map(([, path = '']) => path)
      .filter((path) => !MADE_BY_RUNNING.includes(path) && !existsSync(join(PROJECT, path)));
    expect(lost).toEqual([]);
  });
});

it.each(WRAPPED_PAGES)('%s wraps its prose at 120 columns', (page) => {
  expect(longLines(readFileSync(join(PROJECT, page), 'utf8'))).toEqual([]);
});

it('finds a long line of prose, and lets tables and code be longer', () => {
  const long = 'word '.repeat(30);
  expect(longLines(['short', long, `| ${long} |`, '```', long, '```', `- ${'x'.repeat(130)}`, `- ${long}`].join('\n'))).toEqual([2, 8]);
});
