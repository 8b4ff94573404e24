/** With MLLD_TEST_SEED=NUMBER each property draws the examples of this seed; without it each run of the tests draws others. */
import { env } from 'node:process';

const seed = env['MLLD_TEST_SEED'];
if (seed !== undefined) {
  if (!/^\d+$/u.test(seed)) throw new Error(`MLLD_TEST_SEED is ${JSON.stringify(seed)}; write a whole number`);
  // Without a seed, files that have no property do not load the library.
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}
