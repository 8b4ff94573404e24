// kill -9 at random moments in a pipeline with loops, retries, nested branches, a person and a gate, then --resume, until it is through.
// Exit status 1 at the first broken promise (`test/pipeline/run/killed-chain.ts` has them).
//   node pipeline-crash.mjs [--kills 200] [--seed N] [--json FILE]

import { parseArgs } from 'node:util';

import { importTypescript } from './import-typescript.mjs';
import { heading, saveJson, table } from './report.mjs';
import { subjects } from './subjects.mjs';

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    json: { type: 'string' },
  },
});
const { argv: command } = subjects().find(({ name }) => name === 'ours');
const seed = Number(options.seed);
try {
  heading(`kill -9 in pipelines, seed ${seed}`);
  const { killChains } = await importTypescript('test/pipeline/run/killed-chain.ts');
  const told = await killChains({ command, seed, kills: Number(options.kills), onChain: ({ kills }) => process.stderr.write(` ${kills}`) });
  process.stderr.write('\n');
  const columns = {
    chains: 'chains',
    kills: 'kills',
    'in a node': 'midNode',
    'in a branch': 'midBranch',
    'before the run began': 'tooEarly',
    'stages begun again': 'repeated',
    'checkpoint.json behind by at most': 'behind',
  };
  table('every chain ended as the undisturbed run, no finished node ran again', Object.entries(columns), [told]);
  saveJson(options.json, { seed, ...told });
} catch (error) {
  console.error(`\nseed ${seed}: ${error.message}`);
  process.exitCode = 1;
}
