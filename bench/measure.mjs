// Runs whole processes alternately (A B A B ..., every other round backwards) and measures their cost. A ratio taken within one run
// holds on a busy machine; a time does not. Processes are judged by CPU time: user and system, children included.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

import { greatest, least, median } from './statistics.mjs';

const GNU_TIME = '/usr/bin/time'; // knows the peak memory; without it memory is not measured
const RUN_MS_MAX = 170_000;

/** A scratch folder that goes away with this process. */
export function scratch(label) {
  const folder = mkdtempSync(join(tmpdir(), `mlld-bench-${label}-`));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  return folder;
}

/**
 * Runs a command to its end.
 * @returns {Promise<{ code: number | null, timedOut: boolean, wall: number, cpu: number, rssMB: number, stdout: string, stderr: string }>}
 *   wall and cpu in seconds, NaN where it was not measured
 */
export function runProcess(argv, { cwd } = {}) {
  const notes = mkdtempSync(join(tmpdir(), 'mlld-bench-run-'));
  const memory = existsSync(GNU_TIME) ? [GNU_TIME, '-q', '-o', join(notes, 'memory'), '-f', '%M'] : [];
  // bash's `time` has millisecond digits and counts every process that was waited for.
  const script = `TIMEFORMAT='%3U %3S'; { time "$@" 2>"$0/stderr"; } 2>"$0/times"`;
  return new Promise((resolve) => {
    const startedMs = performance.now();
    const child = spawn('bash', ['-c', script, notes, ...memory, ...argv], { cwd, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    let timedOut = false;
    const limit = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid);
    }, RUN_MS_MAX);
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.on('close', (code) => {
      clearTimeout(limit);
      const note = (name) => (existsSync(join(notes, name)) ? readFileSync(join(notes, name), 'utf8') : '');
      const [user, system] = note('times').trim().split('\n').at(-1).split(' ').map(Number);
      const kilobytes = Number(note('memory').trim().split('\n').at(-1) || NaN);
      const result = { code, timedOut, wall: (performance.now() - startedMs) / 1000, cpu: user + system, rssMB: kilobytes / 1024 };
      resolve({ ...result, stdout: Buffer.concat(chunks).toString(), stderr: note('stderr') });
      rmSync(notes, { recursive: true, force: true });
    });
  });
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

/**
 * Runs every variant once a round and gives medians, and ratios to the first variant taken pair by pair.
 * @param {{ name: string, argv: string[], cwd: string }[]} variants
 */
export async function interleave(variants, { rounds, warmUps = 1 }) {
  const seen = new Map(variants.map(({ name }) => [name, []]));
  for (let round = -warmUps; round < rounds; round++) {
    for (const { name, argv, cwd } of round % 2 ? variants.toReversed() : variants) {
      const result = await runProcess(argv, { cwd });
      if (round >= 0) seen.get(name).push(result);
      process.stderr.write(result.code === 0 ? '.' : 'x');
    }
  }
  process.stderr.write('\n');
  const base = seen.get(variants[0].name);
  return variants.map(({ name }) => {
    const runs = seen.get(name);
    const of = (key) => runs.map((run) => run[key]);
    const ratios = (key) => runs.map((run, i) => run[key] / base[i][key]);
    return {
      name,
      runs: runs.length,
      cpu: median(of('cpu')),
      wall: median(of('wall')),
      rssMB: median(of('rssMB')),
      cpuRatio: median(ratios('cpu')),
      cpuRatioMin: least(ratios('cpu')),
      cpuRatioMax: greatest(ratios('cpu')),
      rssMBRatio: median(ratios('rssMB')),
      failed: runs.filter(({ code }) => code !== 0).length,
      stdout: runs[0].stdout,
    };
  });
}
