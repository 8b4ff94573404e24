// Runs one case: a fresh copy of its folder, its steps in order, every check of the README after each step. A case can be run twice, with the
// document streamed and with it printed at the end, because a script means the same both ways (world.md 3.3).
//
// R1 Nothing of the outside reaches a step: its environment is built here, HOME is an empty folder, standard input is closed.
// R2 Nothing of a step reaches the outside: it works in a temporary copy, and its process group is killed when it overstays.

import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { clip, matches, matchesCheckpoint, missingInOrder, normalise, shortDiff } from './compare.mjs';
import { eventsSince, journalSizes, ledgerLines, ledgerSince, newestCheckpoint } from './evidence.mjs';
import { startProvider } from './provider.mjs';
import { bufferingCanTell, printsDocument } from './ways.mjs';

const PROGRAM = fileURLToPath(new URL('../../dist/mlld.cjs', import.meta.url));
// The cache of compiled code is shared, so that not every step compiles it anew.
const CODE_CACHE = join(process.env.MLLD_TEST_SCRATCH ?? tmpdir(), 'mlld-test-cache');
/** A case of 300 commands takes some seconds, on a busy machine half a minute. */
const STEP_MS_MAX = 120_000;
const MARKED_MS = 300;
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 2 ** 30;
const POLL_MS = 5;
/** Programs that stand in for `claude`, `codex`, `gemini` and `opencode`. */
const STUBS = fileURLToPath(new URL('./stubs', import.meta.url));

/** In memory where there is room and programs may be started: most of the wait is for syncs of a disk, and no case can tell. */
const SCRATCH = isRoomy(MEMORY) ? MEMORY : tmpdir();

function isRoomy(folder) {
  const probe = join(folder, `mlld-probe-${process.pid}`);
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < MEMORY_BYTES_MIN) return false;
    writeFileSync(probe, '#!/bin/sh\n', { mode: 0o700 });
    return spawnSync(probe).status === 0;
  } catch {
    return false;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Programs that the case needs and this machine lacks. @returns {string[]} */
export function missingPrograms({ needs }) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return needs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
}

/** The ways to run a case. What a step says of its environment counts for more. */
const WAYS = { streamed: {}, buffered: { MLLD_NO_STREAM: 'true' } };

/**
 * Complaints, one a failed check; none when the case passes. A case that fails one way is not run another.
 *
 * `ways`: `both`, `streamed`, or `telling`, which runs the buffered way only where it can tell anything that the first did not (ways.mjs).
 * `onDocument` is called with the text of each document that was streamed, and may return complaints about it.
 *
 * @param {{ ways?: 'both' | 'streamed' | 'telling', onDocument?: (text: string) => string[] }} [options]
 * @returns {Promise<string[]>}
 */
export async function runCase(theCase, { ways = 'both', onDocument = () => [] } = {}) {
  const documents = [];
  const streamed = await runCaseOneWay(theCase, WAYS.streamed, (document) => documents.push(document));
  const complaints = streamed.length > 0 ? streamed : documents.flatMap(({ text }) => onDocument(text));
  if (complaints.length > 0 || ways === 'streamed') return complaints;
  if (ways === 'telling' && !(await bufferingCanTell(theCase, documents))) return [];
  return (await runCaseOneWay(theCase, WAYS.buffered)).map((text) => `buffered: ${text}`);
}

async function runCaseOneWay(theCase, surroundings, onDocument) {
  const scratch = await realpath(await mkdtemp(join(SCRATCH, 'mlld-case-')));
  const project = join(scratch, 'project');
  const home = join(scratch, 'home');
  let provider;
  try {
    await mkdir(home);
    await cp(theCase.folder, project, { recursive: true });
    if (theCase.provider) provider = await startProvider(theCase.provider, join(scratch, 'provider.ndjson'));
    const equipment = { ...(theCase.stubs ? stubsFor(project) : {}), ...(provider ? { PROVIDER_URL: provider.url } : {}) };
    for (const [index, step] of theCase.steps.entries()) {
      const env = { ...surroundings, ...equipment, ...inFolder(step.env ?? {}, project) };
      const complaints = await runStep({ ...step, env }, { theCase, project, home, provider, onDocument });
      // Later steps build on this one: their complaints would only repeat the first.
      if (complaints.length > 0) return complaints.map((text) => `step ${index + 1} (${step.argv.join(' ')}): ${text}`);
    }
    return [];
  } finally {
    await provider?.stop();
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** `{folder}` is the folder of the case. */
function inFolder(env, project) {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replaceAll('{folder}', project)]));
}

/** The stub programs come first on the path; what they do is in `plan.json`, the calls they got in `ledger.ndjson`. */
function stubsFor(project) {
  const plan = join(project, 'plan.json');
  return {
    PATH: `${STUBS}${delimiter}${process.env.PATH}`,
    STUB_LEDGER: join(project, 'ledger.ndjson'),
    ...(existsSync(plan) ? { STUB_PLAN: plan } : {}),
  };
}

async function runStep(step, { theCase, project, home, provider, onDocument }) {
  await changeFiles(step, project);
  if (step.shell) {
    const { status, stderr } = spawnSync('sh', ['-c', step.shell], { cwd: project, encoding: 'utf8' });
    if (status !== 0) return [`the shell command ended with ${status}: ${clip(stderr)}`];
  }
  const callsLog = join(project, 'calls.log');
  const callsBefore = linesOf(callsLog).length;
  const before = step.journal || step.killAfter ? await journalSizes(project) : new Map();
  const ledger = join(project, 'ledger.ndjson');
  const asked = theCase.stubs || step.ledger ? (await ledgerLines(ledger)).length : 0;
  const startedMs = Date.now();
  const calls = () => linesOf(callsLog).slice(callsBefore);
  const outcome = await execute(step, { project, home, before, calls, stubs: theCase.stubs ? { ledger, asked } : undefined });
  const elapsedMs = Date.now() - startedMs;
  if (printsDocument(step) && outcome.stdout !== '') onDocument?.({ text: outcome.stdout, endedInOrder: outcome.exit === 0 });
  const complaints = [];
  if (outcome.overstayed) complaints.push(`still running after ${STEP_MS_MAX} ms`);
  if (step.killAfter && !outcome.killed) complaints.push(`ended before ${JSON.stringify(step.killAfter)}; stderr: ${clip(outcome.stderr)}`);
  const exits = [step.exit ?? 0].flat();
  if (step.killAfterCalls && !outcome.killed) complaints.push(`ended before ${step.killAfterCalls} calls; stderr: ${clip(outcome.stderr)}`);
  const isKilled = (step.killAfter && step.signal === undefined) || step.killAfterCalls !== undefined;
  if (!isKilled && !exits.includes(outcome.exit)) {
    complaints.push(`exit ${outcome.exit}, expected ${exits.join(' or ')}; stderr: ${clip(outcome.stderr)}`);
  }
  if (step.elapsedMs && (elapsedMs < step.elapsedMs[0] || elapsedMs > step.elapsedMs[1])) {
    complaints.push(`took ${elapsedMs} ms, expected ${step.elapsedMs.join(' to ')}`);
  }
  complaints.push(...checkCalls(step, calls()));
  complaints.push(...(await checkStreams(step, outcome, theCase.folder)));
  complaints.push(...(await checkFiles(step.files ?? {}, { project, byteForByte: theCase.area === 'graph' })));
  if (step.journal) complaints.push(...checkJournal(step.journal, await eventsSince(project, before)));
  if (step.ledger) complaints.push(...checkLedger(step.ledger, ledgerSince(await ledgerLines(ledger), asked)));
  if (step.provider) {
    const actual = await provider.stats();
    if (!matches(step.provider, actual))
      complaints.push(`provider\n- ${clip(JSON.stringify(step.provider))}\n+ ${clip(JSON.stringify(actual))}`);
  }
  if (step.checkpoint) {
    const actual = await newestCheckpoint(project, step.argv);
    if (!actual) complaints.push('no checkpoint.json');
    else if (!matchesCheckpoint(step.checkpoint, actual)) {
      const members = Object.fromEntries(Object.keys(step.checkpoint).map((key) => [key, actual[key]]));
      complaints.push(`checkpoint\n- ${clip(JSON.stringify(step.checkpoint))}\n+ ${clip(JSON.stringify(members))}`);
    }
  }
  return complaints;
}

/** @returns {Promise<{ exit: number | null, stdout: string, stderr: string, killed: boolean, overstayed: boolean }>} */
function execute(
  { argv, env = {}, stdin = '', killAfter, killAfterCalls, killDelayMs = 0, signal = 'SIGKILL' },
  { project, home, before, calls, stubs },
) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...argv], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: home, TMPDIR: tmpdir(), LANG: 'C.UTF-8', NO_COLOR: '1', XDG_CACHE_HOME: CODE_CACHE, ...env },
      detached: true, // a process group of its own, so that a kill reaches its children too
    });
    const outcome = { stdout: [], stderr: [], killed: false, overstayed: false };
    child.stdout.on('data', (chunk) => outcome.stdout.push(chunk));
    child.stderr.on('data', (chunk) => outcome.stderr.push(chunk));
    child.stdin.on('error', () => {}); // a program that ends without reading its input is no failure of the runner
    child.stdin.end(stdin);
    const limit = setTimeout(() => {
      outcome.overstayed = true;
      killGroup(child.pid);
    }, STEP_MS_MAX);
    let ended = false;
    if (killAfter) {
      void waitForEvent(killAfter, { project, before, given: () => ended }).then(async (seen) => {
        if (seen && killDelayMs > 0) {
          if (stubs) await waitForStubs(stubs, { project, before, given: () => ended });
          await new Promise((wait) => setTimeout(wait, killDelayMs));
        }
        // Ctrl-C reaches the program alone here; it is what ends its commands.
        if (seen && !ended) outcome.killed = signal === 'SIGKILL' ? killGroup(child.pid) : child.kill(signal);
      }, reject);
    }
    if (killAfterCalls) {
      const poll = setInterval(() => {
        if (ended) clearInterval(poll);
        else if (calls().length >= killAfterCalls) {
          clearInterval(poll);
          // The agent logs its call before it marks that it was asked, and hangs behind both.
          setTimeout(() => (outcome.killed = !ended && killGroup(child.pid)), MARKED_MS);
        }
      }, POLL_MS);
    }
    child.on('error', reject);
    child.on('close', (exit) => {
      ended = true;
      clearTimeout(limit);
      const text = (chunks) => Buffer.concat(chunks).toString('utf8');
      resolve({ ...outcome, exit, stdout: text(outcome.stdout), stderr: text(outcome.stderr) });
    });
  });
}

async function waitForEvent(pattern, { project, before, given }) {
  while (!given()) {
    if ((await eventsSince(project, before)).some((event) => matches(pattern, event))) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

/**
 * Waits until every attempt that has started has its stub in the ledger. A delay is meant to let a stub do what the plan says, and a busy
 * machine may need longer than the delay to start one. A stub that was killed before has not used up its `times`, and would hang again.
 */
async function waitForStubs({ ledger, asked }, { project, before, given }) {
  while (!given()) {
    const started = (await eventsSince(project, before)).filter(({ type }) => type === 'call.started').length;
    if (ledgerSince(await ledgerLines(ledger), asked).count >= started) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
    return true;
  } catch {
    return false; // it has just ended by itself
  }
}

/** The lines that the agent of the case logs; a line that is still written is left out. */
function linesOf(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function checkCalls({ calls, callsInOrder, callsSubsequence, callCount, callCountAtMost }, actual) {
  const shown = clip(JSON.stringify(actual));
  const complaints = [];
  if (calls && JSON.stringify(calls.toSorted()) !== JSON.stringify(actual.toSorted()))
    complaints.push(`calls\n- ${JSON.stringify(calls)}\n+ ${shown}`);
  if (callsInOrder && JSON.stringify(callsInOrder) !== JSON.stringify(actual))
    complaints.push(`calls in order\n- ${JSON.stringify(callsInOrder)}\n+ ${shown}`);
  const missing = callsSubsequence && missingInOrder(callsSubsequence, actual);
  if (missing !== undefined) complaints.push(`calls lack (in order) ${JSON.stringify(missing)}: ${shown}`);
  if (callCount !== undefined && callCount !== actual.length) complaints.push(`${actual.length} calls, expected ${callCount}: ${shown}`);
  if (callCountAtMost !== undefined && actual.length > callCountAtMost)
    complaints.push(`${actual.length} calls, expected at most ${callCountAtMost}: ${shown}`);
  return complaints;
}

async function checkStreams(step, outcome, folder) {
  const { stdout, stdoutContains = [], stderrContains = [], stdoutJson } = step;
  const complaints = [];
  for (const stream of ['stdout', 'stderr']) {
    for (const source of step[`${stream}Matches`] ?? [])
      if (!new RegExp(source, 'mu').test(outcome[stream]))
        complaints.push(`${stream} does not match /${source}/: ${clip(outcome[stream])}`);
    for (const text of step[`${stream}Lacks`] ?? [])
      if (outcome[stream].includes(text)) complaints.push(`${stream} has "${text}": ${clip(outcome[stream])}`);
  }
  if (stdoutJson !== undefined) {
    const actual = parsed(outcome.stdout);
    if (actual === undefined || !matches(stdoutJson, actual))
      complaints.push(`stdout\n- ${clip(JSON.stringify(stdoutJson))}\n+ ${clip(outcome.stdout)}`);
  }
  if (stdout !== undefined) {
    const expected = normalise(typeof stdout === 'string' ? stdout : await readFile(join(folder, stdout.file), 'utf8'));
    const actual = normalise(outcome.stdout);
    if (actual !== expected) complaints.push(`stdout: ${shortDiff(expected, actual)}\nstderr: ${clip(outcome.stderr)}`);
  }
  for (const text of stdoutContains) {
    if (!outcome.stdout.includes(text)) complaints.push(`stdout lacks "${text}": ${clip(outcome.stdout)}`);
  }
  for (const text of stderrContains) {
    if (!outcome.stderr.includes(text)) complaints.push(`stderr lacks "${text}": ${clip(outcome.stderr)}`);
  }
  return complaints;
}

async function checkFiles(files, { project, byteForByte }) {
  const complaints = [];
  const asCompared = byteForByte ? (text) => text : normalise;
  for (const [name, expected] of Object.entries(files)) {
    const actual = await readFile(join(project, name), 'utf8').catch((error) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
      throw error;
    });
    if (expected === null || actual === null) {
      if (expected !== actual) complaints.push(`file ${name} ${actual === null ? 'is missing' : 'exists'}`);
    } else if (asCompared(actual) !== asCompared(expected)) {
      complaints.push(`file ${name}: ${shortDiff(asCompared(expected), asCompared(actual))}`);
    }
  }
  return complaints;
}

async function changeFiles({ write = {}, remove = [] }, project) {
  for (const [name, content] of Object.entries(write)) {
    if (content === null) {
      await rm(join(project, name), { recursive: true, force: true });
      continue;
    }
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  for (const name of remove) await rm(join(project, name), { recursive: true, force: true });
}

/** `calls` is a subsequence, `never` lists what must not be among the calls; the sums are matched as they are. */
function checkLedger({ calls = [], never = [], ...sums }, actual) {
  const complaints = [];
  if (!matches(sums, actual)) {
    const { calls: _, ...shown } = actual;
    complaints.push(`ledger\n- ${clip(JSON.stringify(sums))}\n+ ${clip(JSON.stringify(shown))}`);
  }
  const missing = missingInOrder(calls, actual.calls);
  if (missing) complaints.push(`ledger lacks (in order) ${JSON.stringify(missing)}; it has ${clip(JSON.stringify(actual.prompts))}`);
  for (const pattern of [never].flat()) {
    const found = actual.calls.find((call) => matches(pattern, call));
    if (found) complaints.push(`ledger has ${clip(JSON.stringify(found))}, which must never occur`);
  }
  return complaints;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checkJournal({ events = [], never = [], counts = [] }, appended) {
  const complaints = [];
  const missing = missingInOrder(events, appended);
  if (missing) complaints.push(`journal lacks (in order) ${JSON.stringify(missing)}; it has ${clip(appended.map(brief).join(' '))}`);
  for (const [pattern, expected] of counts) {
    const count = appended.filter((event) => matches(pattern, event)).length;
    if (!matches(expected, count))
      complaints.push(`journal has ${count} of ${JSON.stringify(pattern)}, expected ${JSON.stringify(expected)}`);
  }
  for (const pattern of never) {
    const found = appended.find((event) => matches(pattern, event));
    if (found) complaints.push(`journal has ${clip(JSON.stringify(found))}, which must never occur`);
  }
  return complaints;
}

function brief({ type, node }) {
  return node === undefined ? type : `${type}(${node})`;
}
