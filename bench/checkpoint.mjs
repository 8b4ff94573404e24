// Measures N recorded calls of 4 KB: the first run, the second, and the commands on their results; alternates with floor.mjs.
//   node checkpoint.mjs [--sizes 732,10000] [--rounds 5] [--json FILE]
// body: the same script without the label, nothing is remembered · cold: N misses · warm: N hits · resume: with --resume ·
// fork: another script with --fork · list: checkpoint list · target: --resume @review, every call is executed again

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { runProcess, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { median } from './statistics.mjs';
import { subjects } from './subjects.mjs';
import { pipelineScript, project } from './workload.mjs';

const LARGE = 4000; // from here on a round takes so long that three must do, without a warm-up
const ANSWER_BYTES = 4096;
const FLOOR = fileURLToPath(new URL('floor.mjs', import.meta.url));

const { values: options } = parseArgs({
  options: { sizes: { type: 'string', default: '732,10000' }, rounds: { type: 'string', default: '5' }, json: { type: 'string' } },
});
const root = scratch('checkpoint');
const takers = [{ name: 'floor' }, ...subjects()];
const seen = new Map();

heading('remembered calls');
for (const n of [1, ...options.sizes.split(',').map(Number)]) {
  const rounds = n >= LARGE ? Math.min(3, Number(options.rounds)) : Number(options.rounds);
  for (let round = n >= LARGE ? 0 : -1; round < rounds; round++) {
    for (const taker of round % 2 ? takers.toReversed() : takers) {
      const cwd = project(join(root, `${taker.name}-${n}-${round}`));
      for (const [phase, argv] of phasesOf(taker, { n, cwd })) {
        const result = await runProcess(argv, { cwd });
        const right = result.code === 0 && (taker.name === 'floor' || phase === 'list' || result.stdout.trim() === String(n));
        const store = phase === 'cold' ? sizeOf(join(cwd, '.mlld')) : undefined;
        if (round >= 0) remember({ who: taker.name, n, phase }, { ...result, right, store });
        process.stderr.write(right ? '.' : 'x');
      }
      rmSync(cwd, { recursive: true, force: true });
    }
  }
  process.stderr.write(` ${n}\n`);
}

const rows = [...seen.values()].map(({ who, n, phase, runs }) => ({
  who,
  n,
  phase,
  cpu: median(runs.map(({ cpu }) => cpu)),
  wall: median(runs.map(({ wall }) => wall)),
  rssMB: median(runs.map(({ rssMB }) => rssMB)),
  right: runs.every(({ right }) => right),
  store: runs[0].store,
}));
for (const row of rows) {
  row.usPerCall = perCall(row, 'cpu') * 1e6;
  row.kbPerCall = perCall(row, 'rssMB') * 1024;
  const floor = find({ ...row, who: 'floor' });
  row.xFloor = floor ? row.usPerCall / (perCall(floor, 'cpu') * 1e6) : NaN;
}
const shown = rows.filter(({ n }) => n > 1);
const columns = {
  who: 'who',
  N: 'n',
  phase: 'phase',
  'cpu s': 'cpu',
  'wall s': 'wall',
  'rss MB': 'rssMB',
  'us cpu/call': 'usPerCall',
  'x floor': 'xFloor',
  'KB rss/call': 'kbPerCall',
  right: 'right',
};
table('Whole processes; per call: beyond the same phase with N = 1', Object.entries(columns), shown);
const stores = shown.filter(({ store }) => store);
for (const row of stores) row.amplification = row.store.bytes / (row.n * ANSWER_BYTES);
table(
  'What the first run leaves on disk',
  [
    ['who', 'who'],
    ['N', 'n'],
    ['files', ({ store }) => store.files],
    ['bytes', ({ store }) => store.bytes],
    ['x results', 'amplification'],
  ],
  stores,
);
saveJson(options.json, { rows: shown });

function phasesOf({ name, argv }, { n, cwd }) {
  if (name === 'floor')
    return [
      ['cold', [process.execPath, FLOOR, 'cold', String(n), join(cwd, '.mlld')]],
      ['warm', [process.execPath, FLOOR, 'warm', String(n), join(cwd, '.mlld')]],
    ];
  const scripts = join(cwd, 'llm', 'run');
  pipelineScript(join(scripts, 'plain.mld'), n, { label: '' });
  for (const script of ['pipe.mld', 'branch.mld']) pipelineScript(join(scripts, script), n, { label: 'llm ' });
  return [
    ['body', [...argv, 'run', 'plain', '--no-checkpoint']],
    ['cold', [...argv, 'run', 'pipe', '--checkpoint']],
    ['warm', [...argv, 'run', 'pipe', '--checkpoint']],
    ['resume', [...argv, 'run', 'pipe', '--resume']],
    ['fork', [...argv, 'run', 'branch', '--fork', 'pipe']],
    ['list', [...argv, 'checkpoint', 'list', 'pipe']],
    ['target', [...argv, 'run', 'pipe', '--resume', '@review']],
  ];
}

function remember({ who, n, phase }, run) {
  const key = `${who} ${n} ${phase}`;
  if (!seen.has(key)) seen.set(key, { who, n, phase, runs: [] });
  seen.get(key).runs.push(run);
}

function find({ who, n, phase }) {
  return rows.find((row) => row.who === who && row.n === n && row.phase === phase);
}

function perCall(row, key) {
  return (row[key] - find({ ...row, n: 1 })[key]) / row.n;
}

function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, entry) => sum + lstatSync(join(entry.parentPath ?? entry.path, entry.name)).blocks * 512, 0);
  return { files: files.length, bytes };
}
