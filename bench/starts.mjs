// Measures the start of a run over a long past: whole processes that reuse 100 results, over pasts of different length, alternately.
//   node starts.mjs [--sizes 1000,250000,1000000] [--rounds 5] [--json FILE]
// `index` is the first run over a past, which makes the index; `start` a later one. Ratios are to `node -e 0` of the same run.

import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { interleave, runProcess, scratch } from './measure.mjs';
import { digest, writeRun } from './recorded-runs.mjs';
import { heading, saveJson, table } from './report.mjs';

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,250000,1000000' },
    rounds: { type: 'string', default: '5' },
    program: { type: 'string', default: fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url)) },
    json: { type: 'string' },
  },
});
const REUSED = 100;
const RUN_CALLS = 100_000;
const sizes = options.sizes.split(',').map(Number);
const root = scratch('starts');

heading(`a run that reuses ${REUSED} results`);
const subjects = sizes.map((size) => ({ size, cwd: writePast(join(root, String(size)), size) }));
const argv = [process.execPath, options.program, 'run', 'big', '--checkpoint'];
const rows = [];
for (const { size, cwd } of subjects) {
  const first = await runProcess(argv, { cwd });
  const right = first.stdout.trim() === expected(size);
  rows.push({ name: `index of ${size}`, size, cpu: first.cpu, wall: first.wall, rssMB: first.rssMB, cpuRatio: NaN, right });
}
const variants = [
  { name: 'node -e 0', argv: [process.execPath, '-e', '0'], cwd: root },
  ...subjects.map(({ size, cwd }) => ({ name: `start over ${size}`, argv, cwd })),
];
for (const row of await interleave(variants, { rounds: Number(options.rounds) })) {
  const size = sizes.find((each) => row.name === `start over ${each}`);
  rows.push({ ...row, size, right: row.failed === 0 && (size === undefined || row.stdout.trim() === expected(size)) });
}
const least = rows.find(({ name }) => name === `start over ${sizes[0]}`);
for (const row of rows) {
  row.growth = row.name.startsWith('start') ? row.cpu / least.cpu : NaN;
  row.diskMB = row.size === undefined ? NaN : bytesOfIndex(join(root, String(row.size))) / 1024 / 1024;
}
const columns = {
  what: 'name',
  'cpu s': 'cpu',
  'wall s': 'wall',
  'peak MB': 'rssMB',
  'x node -e 0': 'cpuRatio',
  [`x start over ${sizes[0]}`]: 'growth',
  'index MB': 'diskMB',
  right: 'right',
};
table('Medians of whole processes', Object.entries(columns), rows);
saveJson(options.json, rows);
if (rows.some(({ right }) => !right)) process.exitCode = 1;

function questionOf(i) {
  return `question number ${i} about the tide at the pier and how it turns`;
}

/** The numbers of the calls that the script makes: spread over the whole past. */
function numbersOf(size) {
  return Array.from({ length: REUSED }, (_, i) => Math.floor((i * size) / REUSED));
}

function expected(size) {
  return numbersOf(size)
    .map((i) => `answer ${i}`)
    .join(' ');
}

/** A project whose script has made `size` calls, in runs as docs/journal-format.md has them. */
function writePast(cwd, size) {
  mkdirSync(join(cwd, 'llm', 'run'), { recursive: true });
  writeFileSync(join(cwd, 'mlld-config.json'), '{}');
  const questions = JSON.stringify(numbersOf(size).map(questionOf));
  const lines = ['exe llm @ask(q) = js { return "executed" }', `var @qs = ${questions}`, 'var @out = for @q in @qs => @ask(@q)'];
  writeFileSync(join(cwd, 'llm', 'run', 'big.mld'), `${lines.join('\n')}\nshow @out.join(" ")\n`);
  for (let from = 0, number = 0; from < size; from += RUN_CALLS, number++) {
    const to = Math.min(size, from + RUN_CALLS);
    writeRun(cwd, { workflow: 'llm/run/big.mld', number, facts: callsOf(from, to), executed: to - from });
  }
  return cwd;
}

function* callsOf(from, to) {
  const fingerprint = digest('definition');
  for (let i = from; i < to; i++) {
    const op = `main/for#0[${i}]/ask#0`;
    const question = questionOf(i);
    const key = digest(`{"fn":"ask","args":[${JSON.stringify(question)}]}`);
    const site = { site: 'llm/run/big.mld:3:26', declared: 'llm/run/big.mld:1:1' };
    yield { type: 'call.started', key, op, fn: 'ask', ...site, args: { inline: [question] }, fingerprint };
    const usage = { inputTokens: 10, outputTokens: 20, costUsd: 0.001 };
    yield { type: 'call.completed', key, op, result: { inline: `answer ${i}` }, elapsedMs: 2.5, usage };
  }
}

function bytesOfIndex(cwd) {
  const folder = join(cwd, '.mlld/journal/llm+run+big.mld');
  const names = readdirSync(folder).filter((name) => name === 'index' || name.endsWith('.tier'));
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
