// Every conformance case whose first step is a run without an error: once with --checkpoint, then replayed with its project gone.
//   node replay-cases.mjs [AREA] [--every N] [--trace]
// The replay has to write what the run wrote, byte for byte. --trace looks at the system calls (needs strace): no process is started, no
// file outside the program's own cache is opened for writing.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { AREAS, casesOf } from '../test/conformance/cases.mjs';
import { scratch } from './measure.mjs';

const PROGRAM = fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url));
const RUN_MS_MAX = 30_000;
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { trace: { type: 'boolean', default: false }, every: { type: 'string', default: '1' } },
});
const root = scratch('replay');
const cache = join(root, 'cache');
const counts = { same: 0, skipped: 0, 'not-recordable': 0, wrong: 0 };

for (const area of positionals.length > 0 ? positionals : AREAS) {
  for (const [index, theCase] of (await casesOf(area)).entries()) {
    if (index % Number(options.every) !== 0) continue;
    const outcome = judge(theCase);
    counts[outcome.kind]++;
    if (outcome.kind === 'wrong') console.log(`✗ ${area}/${theCase.name}: ${outcome.why}`);
  }
}
console.log(
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', '),
);
process.exitCode = counts.wrong > 0 ? 1 : 0;

function judge({ area, name, folder, steps: [step] }) {
  const argv = recordedArgv(step);
  if (argv === undefined) return { kind: 'skipped' };
  const project = join(root, area, name);
  const home = join(root, 'home');
  mkdirSync(home, { recursive: true });
  cpSync(folder, project, { recursive: true });
  try {
    const ran = start([PROGRAM, ...argv], { cwd: project, home, step });
    if (ran.status !== 0 || !existsSync(join(project, '.mlld', 'journal'))) return { kind: 'skipped' };
    const elsewhere = join(root, 'elsewhere', area, name);
    cpSync(join(project, '.mlld'), join(elsewhere, '.mlld'), { recursive: true });
    writeFileSync(join(elsewhere, 'mlld-config.json'), '{}');
    rmSync(project, { recursive: true });
    // A pipeline's own run, which may not be the latest: those that it starts are later.
    return compare(ran, elsewhere, home, argv.find((word) => word.endsWith('.dot')) ?? 'latest');
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** The step as a recorded run; undefined for what is no run of a file, or is meant to fail. */
function recordedArgv({ argv, exit = 0, killAfter }) {
  const [first] = argv;
  if (exit !== 0 || killAfter || !first) return undefined;
  if (first !== 'run' && !/\.(mld|md|dot)$/.test(first)) return undefined;
  if (argv.some((word) => ['--no-checkpoint', '--structured', '--plan', '--help'].includes(word))) return undefined;
  return argv.includes('--checkpoint') ? argv : [...argv, '--checkpoint'];
}

function compare(ran, elsewhere, home, run) {
  const trace = join(elsewhere, 'trace.txt');
  const command = [PROGRAM, 'journal', 'replay', run];
  const traced = options.trace
    ? ['-f', '-qq', '-o', trace, '-e', 'trace=execve,openat,open,creat,rename,unlink,mkdir,connect', process.execPath]
    : undefined;
  const replayed = start(command, { cwd: elsewhere, home, step: {}, traced });
  if (/Node module: these are not recorded/.test(replayed.stderr)) return { kind: 'not-recordable' };
  if (replayed.status !== 0) return { kind: 'wrong', why: replayed.stderr.trim().split('\n').slice(0, 4).join(' | ') };
  if (replayed.stdout !== ran.stdout)
    return { kind: 'wrong', why: `output ${JSON.stringify(replayed.stdout)} instead of ${JSON.stringify(ran.stdout)}` };
  const touched = options.trace ? touches(readFileSync(trace, 'utf8')) : [];
  return touched.length > 0 ? { kind: 'wrong', why: touched.join(' | ') } : { kind: 'same' };
}

function touches(trace) {
  const lines = trace.split('\n').slice(1); // the first is the start of the program itself
  return lines.filter(
    (line) =>
      !line.includes(cache) &&
      !line.includes('/dev/') &&
      /execve\(|connect\(|rename\(|unlink\(|mkdir\(|creat\(|O_WRONLY|O_RDWR|O_CREAT/.test(line),
  );
}

function start(command, { cwd, home, step: { env = {}, stdin = '' }, traced }) {
  const argv = traced ? ['strace', ...traced, ...command] : [process.execPath, ...command];
  const result = spawnSync(argv[0], argv.slice(1), {
    cwd,
    input: stdin,
    encoding: 'utf8',
    timeout: RUN_MS_MAX,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', NO_COLOR: '1', XDG_CACHE_HOME: cache, ...env },
  });
  return { status: result.status, stdout: result.stdout, stderr: result.stderr };
}
