// Runs one case: a fresh copy of its folder, its steps in order, every check of the README after each step. A case is run twice, with the
// document streamed and with it printed at the end, because a script means the same both ways (world.md 3.3).
//
// R1 Nothing of the outside reaches a step: its environment is built here, HOME is an empty folder, standard input is closed.
// R2 Nothing of a step reaches the outside: it works in a temporary copy, and its process group is killed when it overstays.

import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { clip, matches, matchesCheckpoint, missingInOrder, normalise, shortDiff } from './compare.mjs';
import { eventsSince, journalSizes, newestCheckpoint } from './evidence.mjs';

const PROGRAM = fileURLToPath(new URL('../../dist/mlld.cjs', import.meta.url));
// Where the program keeps its compiled code: shared, so that not every step compiles it anew.
const CODE_CACHE = join(tmpdir(), 'mlld-test-cache');
const STEP_MS_MAX = 30_000;
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 2 ** 30;
const POLL_MS = 5;

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

/** Complaints, one a failed check; none when the case passes. A case that fails one way is not run another. @returns {Promise<string[]>} */
export async function runCase(theCase, ways = Object.keys(WAYS)) {
  for (const way of ways) {
    const complaints = await runCaseOneWay(theCase, WAYS[way]);
    if (complaints.length > 0) return complaints.map((text) => (way === 'streamed' ? text : `${way}: ${text}`));
  }
  return [];
}

async function runCaseOneWay(theCase, surroundings) {
  const scratch = await realpath(await mkdtemp(join(SCRATCH, 'mlld-case-')));
  const project = join(scratch, 'project');
  const home = join(scratch, 'home');
  try {
    await mkdir(home);
    await cp(theCase.folder, project, { recursive: true });
    for (const [index, step] of theCase.steps.entries()) {
      const complaints = await runStep({ ...step, env: { ...surroundings, ...step.env } }, { theCase, project, home });
      // Later steps build on this one: their complaints would only repeat the first.
      if (complaints.length > 0) return complaints.map((text) => `step ${index + 1} (${step.argv.join(' ')}): ${text}`);
    }
    return [];
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runStep(step, { theCase, project, home }) {
  const before = step.journal || step.killAfter ? await journalSizes(project) : new Map();
  const outcome = await execute(step, { project, home, before });
  const complaints = [];
  if (outcome.overstayed) complaints.push(`still running after ${STEP_MS_MAX} ms`);
  if (step.killAfter) {
    if (!outcome.killed) complaints.push(`ended before ${JSON.stringify(step.killAfter)}; stderr: ${clip(outcome.stderr)}`);
  } else if (outcome.exit !== (step.exit ?? 0)) {
    complaints.push(`exit ${outcome.exit}, expected ${step.exit ?? 0}; stderr: ${clip(outcome.stderr)}`);
  }
  complaints.push(...(await checkStreams(step, outcome, theCase.folder)));
  complaints.push(...(await checkFiles(step.files ?? {}, { project, byteForByte: theCase.area === 'graph' })));
  if (step.journal) complaints.push(...checkJournal(step.journal, await eventsSince(project, before)));
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
function execute({ argv, env = {}, stdin = '', killAfter }, { project, home, before }) {
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
      void waitForEvent(killAfter, { project, before, given: () => ended }).then((seen) => {
        if (seen && !ended) outcome.killed = killGroup(child.pid);
      }, reject);
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

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
    return true;
  } catch {
    return false; // it has just ended by itself
  }
}

async function checkStreams({ stdout, stdoutContains = [], stderrContains = [] }, outcome, folder) {
  const complaints = [];
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

function checkJournal({ events = [], never = [] }, appended) {
  const complaints = [];
  const missing = missingInOrder(events, appended);
  if (missing) complaints.push(`journal lacks (in order) ${JSON.stringify(missing)}; it has ${clip(appended.map(brief).join(' '))}`);
  for (const pattern of never) {
    const found = appended.find((event) => matches(pattern, event));
    if (found) complaints.push(`journal has ${clip(JSON.stringify(found))}, which must never occur`);
  }
  return complaints;
}

function brief({ type, node }) {
  return node === undefined ? type : `${type}(${node})`;
}
