// Compares reports on a run with only reading the file and parsing its lines: both as whole processes, alternately, by CPU time.
//   node lookback.mjs [--events 1000000] [--runs 1000] [--rounds 3] [--json FILE]
// Status 1 when a command takes more than 3 times the parsing, a process more than 1 GB, or `journal list` more than half a second.

import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { interleave, scratch } from './measure.mjs';
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
const left = writeRun(
  'big.mld',
  1,
  longRun(calls, () => 'the same'),
);
// Every thousandth call differs, and so do a few results.
const right = writeRun(
  'big.mld',
  2,
  longRun(
    calls,
    (i) => (i % 1000 === 1 ? 'another' : 'the same'),
    (i) => i % 1000 === 2,
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
for (let i = 0; i < Number(options.runs); i++)
  writeRun(
    `job-${i % 10}.mld`,
    i,
    longRun(20, () => 'the same'),
    shelf,
  );
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

/** One loop of calls, as the runtime records them. */
function* longRun(count, questionOf, isOtherAnswer = () => false) {
  yield { type: 'op.started', op: 'main/for#0', kind: 'for', total: count };
  const fingerprint = digest('definition');
  for (let i = 0; i < count; i++) {
    const iteration = `main/for#0[${i}]`;
    const op = `${iteration}/ask#0`;
    const question = `${questionOf(i)} question number ${i} about the tide at the pier and how it turns`;
    const key = digest(question);
    yield { type: 'op.started', op: iteration, kind: 'for:iteration', name: 'i', item: String(i) };
    yield { type: 'op.started', op, kind: 'exe', name: 'ask', labels: ['llm'] };
    const site = { site: 'big.mld:7:16', declared: 'big.mld:1:1' };
    yield { type: 'call.started', key, op, fn: 'ask', ...site, args: { inline: [question] }, fingerprint };
    yield { type: 'effect.performed', op, kind: 'command.run', subject: `ask ${i}`, request: key, elapsedMs: 1.5 };
    const result = { inline: `${isOtherAnswer(i) ? 'Another' : 'An'} answer to ${question}` };
    yield { type: 'call.completed', key, op, result, elapsedMs: 2.5, usage: { inputTokens: 10, outputTokens: 20, costUsd: 0.001 } };
    yield { type: 'op.finished', op, outcome: 'ok' };
    yield { type: 'op.finished', op: iteration, outcome: 'ok' };
  }
  yield { type: 'op.finished', op: 'main/for#0', outcome: 'ok' };
}

/** A journal as docs/journal-format.md has it, written as fast as that goes. */
function writeRun(workflow, number, facts, folder = project) {
  const startMs = Date.UTC(2026, 0, 1) + number * 60_000;
  const stamp = new Date(startMs).toISOString();
  const run = `${stamp.slice(0, 10).replaceAll('-', '')}-${stamp.slice(11, 19).replaceAll(':', '')}-${stamp.slice(20, 23)}-0000`;
  const path = join(folder, '.mlld/journal', workflow, 'runs', `${run}.ndjson`);
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'wx');
  const state = { previous: '0'.repeat(64), seq: 0, pending: '' };
  const put = ({ type, ...members }) => {
    const ts = new Date(startMs + Math.floor(state.seq / 100)).toISOString();
    const body = JSON.stringify({ v: 1, seq: state.seq++, type, ...members, ts });
    const hash = createHash('sha256').update(state.previous).update(body).digest('hex');
    state.pending += `${body.slice(0, -1)},"hash":"${hash}"}\n`;
    state.previous = hash;
    if (state.pending.length > 1 << 20) flush();
  };
  const flush = () => {
    writeSync(file, state.pending);
    state.pending = '';
  };
  const versions = { mlld: '0.1.0', node: process.version };
  put({
    type: 'run.started',
    workflow,
    name: workflow.slice(0, -4),
    argv: [],
    payload: {},
    flags: { checkpoint: true },
    versions,
    host: 'here',
    pid: 1,
  });
  for (const fact of facts) put(fact);
  put({ type: 'run.finished', status: 'completed', totals: { executed: calls, reused: 0, failed: 0 } });
  flush();
  closeSync(file);
  return { run, path };
}

function digest(text) {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
