/** Random histories, always the same ones; MLLD_TEST_ALL=1 plays more of them, `bench/histories.mjs` thousands of others. */
import { expect, it } from 'vitest';
import { examples } from '../support/examples.js';
import { playHistories } from './property.js';

const SEED = 20_260_101;

it('executes, reuses, invalidates and refuses what the rules say, over many histories', async () => {
  const { runs, kills } = await playHistories({ kind: 'memory', count: examples(40, 100), seed: SEED });
  expect(runs).toBeGreaterThan(80);
  expect(kills).toBeGreaterThan(8);
});

it('does so with a journal on disk', async () => {
  const { runs } = await playHistories({ kind: 'file', count: examples(5, 10), seed: SEED });
  expect(runs).toBeGreaterThan(10);
});

it('does so as a command that is killed by a signal', async () => {
  const { runs } = await playHistories({ kind: 'command', count: examples(2, 3), seed: SEED });
  expect(runs).toBeGreaterThan(3);
});
