/**
 * Every block of the guide is executed, and every output that it shows is compared with what was printed. `MLLD_GUIDE_WRITE=1` writes what
 * was printed into the pages instead; look at the difference before you keep it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

import { PROJECT } from '../support/source-files.js';
import { stepsOf, type Step } from './page.js';
import { differences } from './printed.js';

const GUIDE = path.join(PROJECT, 'docs/guide');
const PAGES = globSync('*.md', { cwd: GUIDE }).sort();
const NUMBERED = PAGES.filter((page) => /^\d\d-/.test(page));

const textOf = (page: string): string => readFileSync(path.join(GUIDE, page), 'utf8');

describe.each(PAGES)('%s', (page) => {
  it.concurrent('prints what it shows', async () => {
    expect(await differences(path.join(GUIDE, page))).toEqual([]);
  });

  it('has no block that is not executed, and names each file above its text', () => {
    const lines = textOf(page).split('\n');
    const isIdle = (step: Step): boolean => step.kind === 'idle';
    const isUnnamed = (step: Step): boolean =>
      step.kind === 'file' && !(lines.slice(0, step.line).findLast((line) => line.trim() !== '') ?? '').includes(`\`${step.name}\``);
    const steps = stepsOf(lines.join('\n'));
    expect(steps.filter((step) => isIdle(step) || isUnnamed(step)).map(({ line }) => line + 1)).toEqual([]);
  });
});

it('has its pages in the index, in order, and each leads to the next', () => {
  const listed = [...textOf('README.md').matchAll(/\]\((\d\d-[\w-]+\.md)\)/g)].map(([, page]) => page);
  expect(listed).toEqual(NUMBERED);
  const leading = NUMBERED.map((page, at) => textOf(page).includes(`](${NUMBERED[at + 1] ?? 'README.md'})`));
  expect(leading).toEqual(NUMBERED.map(() => true));
});

it.each(NUMBERED)('%s ends with what can go wrong', (page) => {
  const headings = textOf(page)
    .split('\n')
    .filter((line) => line.startsWith('## '));
  expect(headings.at(-1)).toBe('## What can go wrong');
});
