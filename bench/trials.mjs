// Many small crash and damage trials: SIGKILLs at random moments, flipped bits, truncations, and system calls that fail once. After each the workflow
// is run again to its end. Each call leaves a line in a side file, so a result that was durable and executed again shows.
//   node trials.mjs [--kills 100] [--flips 72] [--cuts 30] [--failures 28] [--seed N] [--json FILE]
// Exit status 1 when a durable result was executed again, an agent outlived its run, or an output was wrong. Failing system calls need strace.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { subjects } from './subjects.mjs';
import { project } from './workload.mjs';

const CALLS = 24;
const CALLS_AT_ONCE = 6;
const AGENT = 'agent.sh';
/**
 * Lists the system calls that a run makes on its journal, and no agent on anything. Each fails once, at its n-th use by a thread: strace counts
 * for each thread, and finds files only by names that are known before the run.
 */
const SYSTEM_CALLS = ['pwrite64', 'fdatasync', 'fsync', 'rename,renameat,renameat2', 'mkdir,mkdirat'];

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    flips: { type: 'string', default: '72' },
    cuts: { type: 'string', default: '30' },
    failures: { type: 'string', default: '28' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    json: { type: 'string' },
  },
});
const root = scratch('trials');
const ours = subjects().find(({ name }) => name === 'ours').argv;
const random = generator(Number(options.seed));

/** Two front-ends, the same promises. A unit is a call of the script, a stage of the pipeline. */
const WORKFLOWS = {
  script: {
    make: makeScript,
    first: ['run', 'fleet', '--checkpoint'],
    again: ['run', 'fleet', '--checkpoint'],
    units: CALLS,
    atOnce: CALLS_AT_ONCE,
  },
  pipeline: {
    make: makePipeline,
    first: ['run', 'chain.dot', '--yes'],
    again: ['run', 'chain.dot', '--yes', '--resume'],
    units: CALLS,
    atOnce: 1,
  },
};

heading(`crash and damage trials, seed ${options.seed}`);
const rows = [];
for (const [name, workflow] of Object.entries(WORKFLOWS)) {
  const trial = (kind, count, act) => repeat(`${name}: ${kind}`, Number(count), workflow, act);
  rows.push(await trial('SIGKILL', options.kills, killed));
  rows.push(await trial('flipped bit', options.flips, damaged(flipBit)));
  rows.push(await trial('truncation', options.cuts, damaged(cutOff)));
  if (spawnSync('strace', ['-V']).status === 0) rows.push(await trial('failing call', options.failures, failing));
  else console.error('strace is not installed: trials of failing system calls are skipped');
}
const columns = {
  trials: 'kind',
  number: 'trials',
  'executed again': 'again',
  'most in one trial': 'againMax',
  'of them durable': 'paidTwice',
  'more than were in flight': 'tooMuch',
  'agents that outlived': 'orphans',
  'wrong output': 'wrong',
  'nothing failed': 'vain',
};
table(`${CALLS} calls, ${CALLS_AT_ONCE} at a time`, Object.entries(columns), rows);
saveJson(options.json, { seed: Number(options.seed), rows });
process.exitCode = rows.some(({ paidTwice, orphans, tooMuch, wrong }) => paidTwice + orphans + tooMuch + wrong > 0) ? 1 : 0;

async function repeat(kind, count, workflow, act) {
  const row = { kind, trials: count, again: 0, againMax: 0, paidTwice: 0, orphans: 0, wrong: 0, tooMuch: 0, vain: 0 };
  for (let trial = 0; trial < count; trial++) {
    const cwd = project(join(root, `${rows.length}-${trial}`));
    workflow.make(cwd);
    const { durable, orphans, how, isVain = false } = await act(cwd, workflow, trial);
    const before = begun(cwd);
    const { output, stderr } = await toItsEnd(cwd, workflow);
    const after = begun(cwd).slice(before.length);
    const paidTwice = after.filter((unit) => durable.has(unit));
    const again = begun(cwd).length - new Set(begun(cwd)).size;
    const isWrong = output !== Array.from({ length: workflow.units }, (_, i) => `reply ${i}`).join(' ');
    row.again += again;
    row.againMax = Math.max(row.againMax, again);
    row.paidTwice += paidTwice.length;
    row.orphans += orphans;
    row.vain += isVain ? 1 : 0;
    row.wrong += isWrong ? 1 : 0;
    // A crash or a failed write costs what was in flight, damage costs what it hit.
    const isTooMuch = act === killed || act === failing ? again > workflow.atOnce : false;
    row.tooMuch += isTooMuch ? 1 : 0;
    if (isWrong || isTooMuch || paidTwice.length > 0 || orphans > 0)
      console.error(
        `\n${kind} ${trial} (${how}): durable ones again: ${paidTwice.join(' ') || 'none'}, ${again} again in all, orphans ${orphans}, output ${output}\n${stderr}`,
      );
    rmSync(cwd, { recursive: true, force: true });
    process.stderr.write('.');
  }
  process.stderr.write('\n');
  return row;
}

/** Kills the program alone, not its group: its agents must not continue without it. */
async function killed(cwd, { first }) {
  const child = spawn(ours[0], [...ours.slice(1), ...first], { cwd, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const afterMs = 60 + random() * 900;
  await Promise.race([sleep(afterMs), ended]);
  child.kill('SIGKILL');
  await ended;
  await sleep(120);
  return { durable: durableUnits(cwd), orphans: liveAgents(cwd), how: `after ${Math.round(afterMs)} ms` };
}

function damaged(harm) {
  return async (cwd, { first }) => {
    const { status } = run(cwd, first);
    if (status !== 0) throw new Error(`the undisturbed run ended with status ${status}`);
    const [file] = journalFiles(cwd);
    const how = harm(file);
    return { durable: durableUnits(cwd), orphans: 0, how };
  };
}

function flipBit(file) {
  const bytes = readFileSync(file);
  const at = Math.floor(random() * bytes.length);
  bytes[at] ^= 1 << Math.floor(random() * 8);
  writeFileSync(file, bytes);
  return `bit of byte ${at}`;
}

function cutOff(file) {
  const { length } = readFileSync(file);
  const left = Math.floor(random() * length);
  truncateSync(file, left);
  return `cut to ${left} of ${length} bytes`;
}

/** Lets one system call on the journal fail, by strace. */
async function failing(cwd, { first }, trial) {
  const calls = SYSTEM_CALLS[trial % SYSTEM_CALLS.length];
  const nth = 1 + Math.floor(trial / SYSTEM_CALLS.length);
  const error = trial % 2 === 0 ? 'ENOSPC' : 'EIO';
  const log = join(cwd, 'strace.log');
  const trace = ['-f', '-qq', '-o', log, '-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}:when=${nth}`];
  const result = spawnSync('strace', [...trace, ...ours, ...first], { cwd, encoding: 'utf8', timeout: 120_000 });
  const failed = linesOf(log).filter((line) => line.includes('(INJECTED)')).length;
  return {
    durable: durableUnits(cwd),
    orphans: liveAgents(cwd),
    how: `${calls} fails with ${error} at ${nth}, ${failed} times in all, status ${result.status}`,
    isVain: failed === 0,
  };
}

/** Runs again until it completes: a failed stage of a pipeline or a paused run may take a second time, not more. */
async function toItsEnd(cwd, { again, first }) {
  let result = { status: null, stdout: '', stderr: '' };
  for (let time = 0; time < 3 && result.status !== 0; time++) {
    result = run(cwd, again);
    // A run that was killed before its first event was recorded leaves nothing to resume.
    if (result.status !== 0 && (journalFiles(cwd).length === 0 || /no earlier run/.test(result.stderr))) result = run(cwd, first);
  }
  return { output: outputOf(cwd), stderr: result.stderr };
}

function run(cwd, argv) {
  return spawnSync(ours[0], [...ours.slice(1), ...argv], { cwd, encoding: 'utf8', timeout: 120_000 });
}

/** Units whose reply is in a journal, read without the program's own code. A line that no longer has its digest has lost its reply. */
function durableUnits(cwd) {
  const events = journalFiles(cwd).flatMap((file) => linesOf(file).filter(holds).flatMap(parsed));
  const replies = events
    .filter(({ type }) => type === 'call.completed')
    .map(({ result }) => /reply (\d+)/.exec(JSON.stringify(result ?? ''))?.[1]);
  return new Set(replies.filter((unit) => unit !== undefined));
}

/** A line holds when its digest covers it and the digest that the line before it stores (docs/journal-format.md). */
function holds(line, i, lines) {
  const stored = (text) => /,"hash":"([0-9a-f]{64})"/.exec(text ?? '')?.[1];
  const before = i === 0 ? '0'.repeat(64) : stored(lines[i - 1]);
  const own = stored(line);
  return (
    createHash('sha256')
      .update(`${before}${line.replace(`,"hash":"${own}"`, '')}`)
      .digest('hex') === own
  );
}

function parsed(line) {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** Agents of this project that still run. */
function liveAgents(cwd) {
  const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(join(cwd, AGENT))).length;
}

function begun(cwd) {
  return linesOf(join(cwd, 'calls.log'));
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

function journalFiles(cwd) {
  const folder = join(cwd, '.mlld', 'journal');
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  return files.filter((file) => file.endsWith('.ndjson')).map((file) => join(folder, file));
}

function outputOf(cwd) {
  return linesOf(join(cwd, 'out.txt')).join(' ');
}

function writeAgent(cwd) {
  // The number of the unit, a pause, the reply. `exec` would hide the script's name from `ps`.
  writeFileSync(join(cwd, AGENT), `echo "$1" >> "${cwd}/calls.log"\nsleep 0.0$((RANDOM % 9 + 1))\necho "reply $1"\n`);
}

function makeScript(cwd) {
  writeAgent(cwd);
  const script = [
    `exe @numbers() = js { return Array.from({ length: ${CALLS} }, (_, i) => String(i)) }`,
    `exe llm @send(n) = cmd { bash ${join(cwd, AGENT)} "@n" }`,
    'var @ns = @numbers()',
    `var @replies = for parallel(${CALLS_AT_ONCE}) @n in @ns => @send(@n)`,
    'output @replies.join("\\n") to "@root/out.txt"',
  ];
  writeFileSync(join(cwd, 'llm', 'run', 'fleet.mld'), `${script.join('\n')}\n`);
}

function makePipeline(cwd) {
  writeAgent(cwd);
  writeFileSync(join(cwd, 'model.sh'), `n=$(grep -o 'unit [0-9]*' | head -1 | cut -d' ' -f2)\nexec bash ${join(cwd, AGENT)} "$n"\n`);
  const names = Array.from({ length: CALLS }, (_, i) => `u${i}`);
  const graph = [
    'digraph chain {',
    `  graph [backend="cmd:bash ${join(cwd, 'model.sh')}"]`,
    '  start [shape=Mdiamond]',
    ...names.map((name, i) => `  ${name} [prompt="unit ${i}"]`),
    `  gather [shape=parallelogram, tool_command="bash gather.sh"]`,
    '  leave [shape=Msquare]',
    `  start -> ${names.join(' -> ')} -> gather -> leave`,
    '}',
  ];
  writeFileSync(join(cwd, 'chain.dot'), `${graph.join('\n')}\n`);
  writeFileSync(join(cwd, 'gather.sh'), `printf '' > out.txt; for i in $(seq 0 ${CALLS - 1}); do echo "reply $i" >> out.txt; done\n`);
}

/** mulberry32: the same trials for the same seed. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
