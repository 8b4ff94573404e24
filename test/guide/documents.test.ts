/**
 * Every output that README and the pages in docs show is compared with what was printed, as in the guide: a page is a story in a copy of
 * the project that has what it names. `MLLD_GUIDE_WRITE=1` writes what was printed into the pages.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';

import { PROJECT } from '../support/source-files.js';
import { stepsOf } from './page.js';
import { differences } from './printed.js';

const HARBOUR = path.join(PROJECT, 'test/guide/documented-project');
const PAGES = ['README.md', ...globSync('docs/*.md', { cwd: PROJECT }).sort()];

/** A page is up to thirty commands, one after the other. */
const PLAYING_MS = 300_000;

const stepsIn = (page: string): ReturnType<typeof stepsOf> => stepsOf(readFileSync(path.join(PROJECT, page), 'utf8'));
const SHOWING = PAGES.filter((page) => stepsIn(page).some((step) => step.kind === 'command'));

it('finds the pages that show outputs', () => {
  expect(SHOWING).toEqual(expect.arrayContaining(['README.md', 'docs/looking-back.md', 'docs/replay.md', 'docs/resume.md']));
});

it.concurrent.each(SHOWING)(
  '%s prints what it shows',
  async (page) => {
    expect(await differences(path.join(PROJECT, page), HARBOUR)).toEqual([]);
  },
  PLAYING_MS,
);

it.each(PAGES)('%s shows no output without its command', (page) => {
  const lines = readFileSync(path.join(PROJECT, page), 'utf8').split('\n');
  const bare = stepsIn(page).filter(({ kind, line }) => kind === 'idle' && lines[line] === '```');
  expect(bare.map(({ line }) => line + 1)).toEqual([]);
});
