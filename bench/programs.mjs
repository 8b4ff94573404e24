// The cost of a durable step of the library, few and many in a row, and the start of a workflow script.
//   node programs.mjs [--rounds 5] [--sizes 100,1000,10000] [--json FILE]
// A step writes two events and waits for the disk. Its cost is CPU beyond that of a program with one step. The start of a script of the
// dialect is a multiple of that of a one-line script of the language: both record.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { interleave, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { project } from './workload.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '100,1000,10000' },
    json: { type: 'string' },
  },
});
const rounds = Number(options.rounds);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const cwd = project(scratch('programs'));
mkdirSync(join(cwd, 'node_modules'));
symlinkSync(ROOT, join(cwd, 'node_modules', 'mlld'));
mkdirSync(join(cwd, 'llm', 'run'), { recursive: true });
writeFileSync(join(cwd, 'llm', 'run', 'one.mld'), 'show "hello"\n');
writeFileSync(join(cwd, 'llm', 'run', 'job.js'), "export const meta = { name: 'job', description: 'x' }\nreturn 'hello'\n");
writeFileSync(
  join(cwd, 'steps.mjs'),
  `import { workflow } from 'mlld';
const steps = Number(process.argv[2]);
const program = workflow('steps', async (ctx) => {
  const began = performance.now();
  for (let step = 0; step < steps; step++) await ctx.step('weigh', [step], async () => step);
  return (performance.now() - began) / steps;
});
const { status, result, totals } = await program.run(null, process.argv[3] ? { resume: true } : {});
if (status !== 'completed' || totals.executed + totals.reused !== steps) throw new Error(JSON.stringify({ status, totals }));
console.log(result);
`,
);

heading('durable programs');
const MLLD = join(ROOT, 'dist', 'mlld.cjs');
const starts = await interleave(
  [
    { name: 'mlld run one (a line of the language)', argv: [process.execPath, MLLD, 'run', 'one'], cwd },
    { name: 'mlld run job (a script of the dialect)', argv: [process.execPath, MLLD, 'run', 'job', '--backend', 'simulated'], cwd },
  ],
  { rounds, warmUps: 2 },
);
const whole = { what: 'name', 'cpu s': 'cpu', 'cpu ratio': 'cpuRatio', 'wall s': 'wall', 'rss MB': 'rssMB', failed: 'failed' };
table('Start', Object.entries(whole), starts);

const sizes = options.sizes.split(',').map(Number);
const runs = await interleave(
  [1, ...sizes].map((size) => ({ name: String(size), argv: [process.execPath, 'steps.mjs', String(size)], cwd })),
  { rounds: Math.min(rounds, 3) },
);
const [one, ...many] = runs;
const steps = many.map(({ name, cpu, wall }, index) => {
  const count = sizes[index];
  return { name, cpuMs: ((cpu - one.cpu) / count) * 1000, wallMs: ((wall - one.wall) / count) * 1000 };
});
for (const row of steps) row.ratio = row.cpuMs / steps.find(({ name }) => Number(name) >= 1000)?.cpuMs;
table('A step', Object.entries({ steps: 'name', 'cpu ms': 'cpuMs', 'wall ms': 'wallMs', 'cpu over that of 1,000': 'ratio' }), steps);
saveJson(options.json, { starts, steps });
