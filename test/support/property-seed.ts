/** With MLLD_TEST_SEED=NUMBER each property draws the examples of this seed; without it each run of the tests draws others. */
import fc from 'fast-check';

const seed = process.env['MLLD_TEST_SEED'];
if (seed !== undefined) {
  if (!/^\d+$/u.test(seed)) throw new Error(`MLLD_TEST_SEED is ${JSON.stringify(seed)}; write a whole number`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}
