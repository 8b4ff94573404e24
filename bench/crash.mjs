// kill -9 in the middle of a run, and deliberate damage to what it left. Every call that really runs leaves a line in a side file,
// so a call that was paid for and forgotten shows as run twice. The promise is that no call with a durable result runs again: one whose
// body had ended at the kill, and whose result was not durable yet, has to.   node crash.mjs [--calls 200] [--trials 4] [--json FILE]

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { runProcess, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { subjects } from './subjects.mjs';
import { project, slowScript } from './workload.mjs';

const CALLS_AT_ONCE = 20;
const DAMAGED_CALLS = 40;

const { values: options } = parseArgs({
  options: { calls: { type: 'string', default: '200' }, trials: { type: 'string', default: '4' }, json: { type: 'string' } },
});
const calls = Number(options.calls);
const trials = Number(options.trials);
const root = scratch('crash');
const ours = subjects().find(({ name }) => name === 'ours');
const run = [...ours.argv, 'run', 'hull', '--checkpoint'];

heading('kill -9 and damage');
const kills = [];
for (let trial = 0; trial < trials; trial++) {
  const share = 0.15 + (0.7 * trial) / Math.max(1, trials - 1);
  kills.push(await killAt(Math.floor(calls * share), trial));
}
const killColumns = {
  trial: 'trial',
  'durable before the kill': 'durable',
  'ran twice': 'again',
  'of them durable before': 'paidTwice',
  'right output': 'right',
};
table(`${calls} calls, ${CALLS_AT_ONCE} at a time; a call in flight at the kill has to run again`, Object.entries(killColumns), kills);

const damages = [];
for (const [name, harm] of Object.entries(harms())) damages.push(await damage(name, harm));
const damageColumns = { damage: 'name', 'calls again in three runs': 'again', 'right output': 'right', 'first line of stderr': 'notice' };
table(`${DAMAGED_CALLS} remembered calls, then damage (best possible: one call again, or none)`, Object.entries(damageColumns), damages);
saveJson(options.json, { callsAtOnce: CALLS_AT_ONCE, kills, damages });

async function killAt(target, trial) {
  const cwd = project(join(root, `kill-${trial}`));
  const callsFile = join(cwd, 'calls.log');
  slowScript(join(cwd, 'llm', 'run', 'hull.mld'), { n: calls, delayMs: 30, callsFile });
  const child = spawn(run[0], run.slice(1), { cwd, detached: true, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('close', resolve));
  while (child.exitCode === null && linesOf(callsFile).length < target) await sleep(5);
  if (child.exitCode === null) process.kill(0 - child.pid, 'SIGKILL');
  await ended;
  const durable = completedCalls(cwd);
  const before = linesOf(callsFile);
  const { stdout } = await runProcess(run, { cwd });
  const after = linesOf(callsFile).slice(before.length);
  const again = before.length + after.length - calls;
  const paidTwice = after.filter((prompt) => durable.has(prompt)).length;
  rmSync(cwd, { recursive: true, force: true });
  return { trial, durable: durable.size, again, paidTwice, right: stdout.trim() === `${calls} ${calls}` };
}

/** Reads the calls whose result is in a journal, without our own code. */
function completedCalls(cwd) {
  const events = journalFiles(cwd).flatMap((file) => linesOf(file).flatMap(parsed));
  return new Set(events.filter(({ type }) => type === 'call.completed').map(({ result }) => /hull section \d+/.exec(result.inline)[0]));
}

function parsed(line) {
  try {
    return [JSON.parse(line)];
  } catch {
    return []; // the torn tail
  }
}

/** Each takes the bytes of a journal and gives what is left of them. */
function harms() {
  const line = (text, at) => text.split('\n')[at];
  return {
    'last line cut in half': (text) => text.trimEnd().slice(0, -120),
    'one answer changed by one letter': (text) => text.replace('report on hull section 7 ', 'rePort on hull section 7 '),
    'garbage in the middle': (text) => text.replace(line(text, 30), `{"v":1,"seq":\n${line(text, 30)}`),
    'a line missing in the middle': (text) => text.replace(`${text.split('\n').find((each) => each.includes('"call.completed"'))}\n`, ''),
    'a version of the future': (text) => text.replaceAll(/^\{"v":\d+/gm, '{"v":99'),
  };
}

async function damage(name, harm) {
  const cwd = project(join(root, `damage-${damages.length}`));
  const callsFile = join(cwd, 'calls.log');
  slowScript(join(cwd, 'llm', 'run', 'hull.mld'), { n: DAMAGED_CALLS, delayMs: 1, callsFile });
  await runProcess(run, { cwd });
  const [file] = journalFiles(cwd);
  const text = readFileSync(file, 'utf8');
  const harmed = harm(text);
  if (harmed === text) throw new Error(`the damage "${name}" changed nothing`);
  writeFileSync(file, harmed);
  const again = [];
  const results = [];
  for (let turn = 0; turn < 3; turn++) {
    const before = linesOf(callsFile).length;
    results.push(await runProcess(run, { cwd }));
    again.push(linesOf(callsFile).length - before);
  }
  rmSync(cwd, { recursive: true, force: true });
  const right = results.every(({ stdout }) => stdout.trim() === `${DAMAGED_CALLS} ${DAMAGED_CALLS}`);
  const [notice] = results[0].stderr.split('\n').filter((each) => !each.startsWith('Running '));
  return { name, again: again.join(', '), right, notice: notice?.slice(0, 100) };
}

function journalFiles(cwd) {
  const folder = join(cwd, '.mlld', 'journal');
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  return files.filter((file) => file.endsWith('.ndjson')).map((file) => join(folder, file));
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
