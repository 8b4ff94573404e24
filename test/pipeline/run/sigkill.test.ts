/** Real processes, killed at arbitrary moments; `bench/pipeline-crash.mjs` does the same two hundred times. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { killChains } from './killed-chain.js';

const PROGRAM = fileURLToPath(new URL('../../../dist/mlld.cjs', import.meta.url));

it('gets through as if nothing had happened, whenever it is killed', { timeout: 120_000 }, async () => {
  const wanted = 6;
  const { kills, chains } = await killChains({ command: [process.execPath, PROGRAM], seed: 5, kills: wanted });
  expect(kills).toBe(wanted);
  expect(chains).toBeGreaterThan(1);
});
