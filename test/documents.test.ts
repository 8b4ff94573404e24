/** Documents name files of the repository, and a reader finds each of them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

import { PROJECT } from './support/source-files.js';

const PAGES = globSync(['README.md', 'docs/*.md', 'journal/README.md', 'bench/README.md', 'examples/*/README.md'], { cwd: PROJECT }).sort();

/** `src/a/b.ts`, `docs/errors.md`, `test/crash/`: a folder of the repository, then a path without placeholders. */
const PATH = /`((?:src|replay|journal|cli|grammar|viewer|test|docs|bench|examples)\/[\w./-]*)`/g;

/** Folders that are there after something ran. */
const MADE_BY_RUNNING = ['bench/out'];

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(join(PROJECT, page), 'utf8');

  it('names files and folders that exist', () => {
    const lost = [...text.matchAll(PATH)]
      .map(([, path = '']) => path)
      .filter((path) => !MADE_BY_RUNNING.includes(path) && !existsSync(join(PROJECT, path)));
    expect(lost).toEqual([]);
  });
});
