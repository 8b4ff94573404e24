/** A hundred random histories, always the same; `bench/histories.mjs` plays thousands of others. */
import { expect, it } from 'vitest';
import { playHistories } from './property.js';

const SEED = 20_260_101;

it('executes, reuses, invalidates and refuses what the rules say, over a hundred histories', async () => {
  const { runs, kills } = await playHistories({ kind: 'memory', count: 100, seed: SEED });
  expect(runs).toBeGreaterThan(200);
  expect(kills).toBeGreaterThan(20);
});

it('does so with a journal on disk', async () => {
  const { runs } = await playHistories({ kind: 'file', count: 10, seed: SEED });
  expect(runs).toBeGreaterThan(20);
});

it('does so as a command that is killed by a signal', async () => {
  const { runs } = await playHistories({ kind: 'command', count: 3, seed: SEED });
  expect(runs).toBeGreaterThan(5);
});
