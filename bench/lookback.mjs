// Compares reports on a run with only reading the file and parsing its lines: both as whole processes, alternately, by CPU time.
//   node lookback.mjs [--events 1000000] [--runs 1000] [--rounds 3] [--json FILE]
// Status 1 when a command takes more than 3 times the parsing, a process more than 1 GB, or `journal list` more than half a second.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { interleave, scratch } from './measure.mjs';
import { loopOfCalls, writeRun } from './recorded-runs.mjs';
import { heading, saveJson, table } from './report.mjs';

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
});
const RATIO_MAX = 3;
const RSS_MB_MAX = 1024;
const LIST_SECONDS_MAX = 0.5;
const EVENTS_PER_CALL = 7;

const mlld = fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url));
const rounds = Number(options.rounds);
const project = scratch('lookback');
writeFileSync(join(project, 'mlld-config.json'), '{}');

const calls = Math.floor((Number(options.events) - 4) / EVENTS_PER_CALL);
const big = (number, facts) => writeRun(project, { workflow: 'big.mld', number, facts, executed: calls });
const left = big(
  1,
  loopOfCalls(calls, () => 'the same'),
);
// Every thousandth call differs, and so do a few results.
const right = big(
  2,
  loopOfCalls(
    calls,
    (i) => (i % 1000 === 1 ? 'another' : 'the same'),
    (question, i) => `${i % 1000 === 2 ? 'Another' : 'An'} answer to ${question}`,
  ),
);

const parser = join(project, 'parse.mjs');
writeFileSync(
  parser,
  `import { openSync, readSync } from 'node:fs';
let sum = 0;
for (const path of process.argv.slice(2)) {
  const file = openSync(path);
  const block = Buffer.allocUnsafe(256 * 1024);
  let rest = '';
  for (let count; (count = readSync(file, block)) > 0; ) {
    const lines = (rest + block.latin1Slice(0, count)).split('\\n');
    rest = lines.pop();
    for (const line of lines) sum += JSON.parse(line).seq;
  }
}
if (Number.isNaN(sum)) throw new Error('an event without a number');
`,
);

heading(`looking back at ${calls * EVENTS_PER_CALL + 4} events`);
const journal = (...argv) => ['bash', '-c', '"$@" > /dev/null || [ $? = 1 ]', '-', process.execPath, mlld, 'journal', ...argv];
const one = await interleave(
  [
    { name: 'parse the lines alone', argv: [process.execPath, parser, left.path], cwd: project },
    ...['verify', 'audit', 'postmortem'].map((name) => ({ name, argv: journal(name, left.run), cwd: project })),
  ],
  { rounds },
);
const two = await interleave(
  [
    { name: 'parse the lines of two', argv: [process.execPath, parser, left.path, right.path], cwd: project },
    { name: 'diff', argv: journal('diff', left.run, right.run), cwd: project },
  ],
  { rounds },
);

const shelf = scratch('list');
writeFileSync(join(shelf, 'mlld-config.json'), '{}');
for (let i = 0; i < Number(options.runs); i++) {
  const facts = loopOfCalls(20, () => 'the same');
  writeRun(shelf, { workflow: `job-${i % 10}.mld`, number: i, facts, executed: 20 });
}
const [list] = await interleave([{ name: `list of ${options.runs} runs`, argv: journal('list'), cwd: shelf }], { rounds });

const rows = [...one, ...two, { ...list, cpuRatio: NaN }];
const columns = {
  what: 'name',
  'cpu s': 'cpu',
  'wall s': 'wall',
  'peak MB': 'rssMB',
  'times the parsing': 'cpuRatio',
  min: 'cpuRatioMin',
  max: 'cpuRatioMax',
};
table('Medians of whole processes', Object.entries(columns), rows);
saveJson(options.json, rows);

const missed = rows
  .filter(({ failed, cpuRatio, rssMB }) => failed > 0 || cpuRatio > RATIO_MAX || rssMB > RSS_MB_MAX)
  .map(({ name }) => name);
if (list.wall > LIST_SECONDS_MAX) missed.push(list.name);
if (missed.length > 0) {
  console.error(`missed: ${missed.join(', ')}`);
  process.exitCode = 1;
}
