// The smallest things a command line does, as multiples of `node -e 0`.   node cold-start.mjs [--rounds 9] [--json FILE]

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { interleave, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { subjects } from './subjects.mjs';
import { project } from './workload.mjs';

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, json: { type: 'string' } } });
const cwd = project(scratch('cold-start'));
writeFileSync(join(cwd, 'one.mld'), 'show "hello"\n');
writeFileSync(join(cwd, 'llm.mld'), 'exe llm @ask(p) = js { return "answer to " + p }\nvar @a = @ask("one")\nshow @a\n');

const commands = {
  '--version': ['--version'],
  '--help': ['--help'],
  'one line': ['one.mld'],
  'one remembered call': ['llm.mld', '--checkpoint'],
};
const variants = [{ name: 'floor: node -e 0', argv: [process.execPath, '-e', '0'], cwd }];
for (const { name, argv } of subjects()) {
  for (const [what, words] of Object.entries(commands)) variants.push({ name: `${name}: ${what}`, argv: [...argv, ...words], cwd });
}

heading('cold start');
const rows = await interleave(variants, { rounds: Number(options.rounds), warmUps: 2 });
const columns = {
  what: 'name',
  'cpu s': 'cpu',
  'wall s': 'wall',
  'cpu x floor': 'cpuRatio',
  min: 'cpuRatioMin',
  max: 'cpuRatioMax',
  'rss MB': 'rssMB',
  failed: 'failed',
};
table('Whole process', Object.entries(columns), rows);
saveJson(options.json, rows);
