/** Ctrl-C ends the run as interrupted and its commands with it, and the next run continues where it stopped. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { projectFolder, resultOf, startCli, type CliResult } from '../support/cli.js';
import { answersOnDisk, callsBegun, CALLS_AT_ONCE, eventsOf, hullProject, journalFiles, listedRuns, run, startUntil } from './workflow.js';

const CALLS = 60;

async function interrupted(cwd: string, begun: number): Promise<CliResult> {
  const child = await startUntil(cwd, begun);
  const result = resultOf(child);
  child.kill('SIGINT');
  return result;
}

it('ends with status 130, says so in its journal, and says how to continue', async () => {
  const cwd = await hullProject({ calls: CALLS, delayMs: 30 });
  const { status, stderr } = await interrupted(cwd, 30);
  expect(status).toBe(130);
  expect(stderr).toContain('run hull --resume');
  const [file] = journalFiles(cwd);
  expect(eventsOf(file as string).at(-1)).toMatchObject({ type: 'run.finished', status: 'interrupted' });
  expect(await listedRuns(cwd)).toMatchObject([{ status: 'interrupted' }]);
});

it('keeps every result that was on disk', async () => {
  const cwd = await hullProject({ calls: CALLS, delayMs: 30 });
  await interrupted(cwd, 30);
  const onDisk = answersOnDisk(cwd);
  expect(onDisk.size).toBeGreaterThanOrEqual(30 - CALLS_AT_ONCE);
  const before = callsBegun(cwd).length;
  expect(await run(cwd)).toMatchObject({ status: 0 });
  const after = callsBegun(cwd).slice(before);
  expect(after.filter((question) => onDisk.has(question))).toEqual([]);
  expect(after).toHaveLength(CALLS - onDisk.size);
});

it('takes its commands with it, and what they started', async () => {
  const script = 'exe llm @wait(n) = sh { sleep 60 & echo $$ $! > pids.txt; wait }\nshow @wait(1)\n';
  const cwd = await projectFolder({ 'llm/run/wait.mld': script });
  const child = startCli(['run', 'wait', '--checkpoint'], { cwd });
  child.stdin.end();
  const pids = await pidsIn(path.join(cwd, 'pids.txt'));
  child.kill('SIGINT');
  const [status] = (await once(child, 'close')) as [number | null];
  expect(status).toBe(130);
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});

async function pidsIn(file: string): Promise<number[]> {
  for (;;) {
    const words = read(file).trim().split(' ');
    if (words.length === 2) return words.map(Number);
    await sleep(5);
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A process that has ended but was not waited for yet counts as gone. */
function isAlive(pid: number): boolean {
  const [, state] = /\) (\S)/.exec(read(`/proc/${pid}/stat`)) ?? [];
  if (state !== undefined) return state !== 'Z';
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux';
  } catch {
    return false;
  }
}
