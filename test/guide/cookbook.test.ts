/** Each recipe of the cookbook is run as its README says, in a copy of its folder, and prints what is shown there. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

import { PROJECT } from '../support/source-files.js';
import { stepsOf } from './page.js';
import { differences } from './printed.js';

const COOKBOOK = path.join(PROJECT, 'examples/cookbook');
const RECIPES = globSync('*/README.md', { cwd: COOKBOOK }).map(path.dirname).sort();

describe.each(RECIPES)('%s', (recipe) => {
  const readme = path.join(COOKBOOK, recipe, 'README.md');

  it.concurrent('prints what it shows', async () => {
    expect(await differences(readme, path.join(COOKBOOK, recipe))).toEqual([]);
  });

  it('runs a workflow, and has no block that is not executed', () => {
    const steps = stepsOf(readFileSync(readme, 'utf8'));
    expect(steps.filter(({ kind }) => kind === 'idle')).toEqual([]);
    expect(steps.some((step) => step.kind === 'command' && /^mlld run \w/.test(step.command))).toBe(true);
  });
});

it('is listed as a whole in the guide', () => {
  const page = readFileSync(path.join(PROJECT, 'docs/guide/19-cookbook.md'), 'utf8');
  expect([...page.matchAll(/`examples\/cookbook\/([\w-]+)\/`/g)].map(([, name]) => name)).toEqual(RECIPES);
});
