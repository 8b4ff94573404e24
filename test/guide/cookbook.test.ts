/** Each recipe of the cookbook is run as its README says, in a copy of its folder, and prints what is shown there. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

import { PROJECT } from '../support/source-files.js';
import { stepsOf, type CommandStep } from './page.js';
import { play } from './play.js';
import { differences } from './printed.js';

const COOKBOOK = path.join(PROJECT, 'examples/cookbook');
const RECIPES = globSync('*/README.md', { cwd: COOKBOOK }).map(path.dirname).sort();
const RUN = /(?:^|\| )mlld run \w/;

describe.each(RECIPES)('%s', (recipe) => {
  const readme = path.join(COOKBOOK, recipe, 'README.md');

  it.concurrent('prints what it shows', async () => {
    expect(await differences(readme, path.join(COOKBOOK, recipe))).toEqual([]);
  });

  it('runs a workflow, and has no block that is not executed', () => {
    const steps = stepsOf(readFileSync(readme, 'utf8'));
    expect(steps.filter(({ kind }) => kind === 'idle')).toEqual([]);
    expect(steps.some((step) => step.kind === 'command' && RUN.test(step.command))).toBe(true);
  });

  it.concurrent('pays for nothing twice', async () => {
    const steps = stepsOf(readFileSync(readme, 'utf8'));
    const last = steps.findLast((step): step is CommandStep => step.kind === 'command' && RUN.test(step.command));
    if (last === undefined) throw new Error('no command runs a workflow');
    const again = { ...last, command: last.command.replace('--resume', '--checkpoint') };
    const played = await play([...steps, again], path.join(COOKBOOK, recipe));
    expect(played.at(-1)?.printed.filter((line) => /^\d+ calls?\b/.test(line))).toEqual([
      expect.stringMatching(/^(\d+) calls: \1 reused, (?:saved \$[\d.]+, )?\d+(?:\.\d+)?m?s$/),
    ]);
  });
});

it('is listed as a whole in the guide', () => {
  const page = readFileSync(path.join(PROJECT, 'docs/guide/19-cookbook.md'), 'utf8');
  expect([...page.matchAll(/`examples\/cookbook\/([\w-]+)\/`/g)].map(([, name]) => name)).toEqual(RECIPES);
});
