/** Two runs of a script at the same time: each reuses what was recorded when it started, and no later result of the other. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { runIdAt, workflowOf } from '../../../journal/ids.js';
import { projectFolder, resultOf, runCli, startCli, type CliResult } from '../../support/cli.js';
import { call, finished, started } from '../../support/written-runs.js';

/** Returns "ebb" at once; waits for `go` inside "gate"; returns "flow" after it. */
const JOB = `exe llm @ask(q) = sh { echo "$q" >> calls.log; if [ "$q" = gate ]; then while [ ! -e go ]; do sleep 0.02; done; fi; echo "$MARK:$q" }
show @ask("ebb")
show @ask("gate")
show @ask("flow")
`;
const QUICK = JOB.replace('show @ask("gate")\nshow @ask("flow")\n', '');

/** Those that a test which failed has left waiting. */
const waiting: (() => void)[] = [];
afterEach(() => {
  for (const end of waiting.splice(0)) end();
});

interface Beside {
  readonly cwd: string;
  readonly older: Promise<CliResult>;
  readonly asked: () => string[];
}

/** A run that has paid for "ebb" and waits. */
async function olderRun(): Promise<Beside> {
  const cwd = await projectFolder({ 'job.mld': JOB });
  const log = path.join(cwd, 'calls.log');
  let seen = 0;
  const lines = (): string[] => (fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').filter(Boolean) : []);
  const child = startCli(['job.mld', '--checkpoint'], { cwd, env: { MARK: 'older' } });
  child.stdin.end();
  waiting.push(() => fs.writeFileSync(path.join(cwd, 'go'), ''));
  const older = resultOf(child);
  while (!lines().includes('gate')) await sleep(10);
  return { cwd, older, asked: () => lines().slice(seen, (seen = lines().length)) };
}

describe('two runs of a script at once', () => {
  it.each([
    ['--fresh', ['job.mld', '--fresh']],
    ['--resume @ask', ['job.mld', '--resume', '@ask']],
    ['clean', ['checkpoint', 'clean', 'job']],
  ])('%s drops what the other had recorded, not what it pays for later', async (_name, younger) => {
    const { cwd, older, asked } = await olderRun();
    fs.writeFileSync(path.join(cwd, 'job.mld'), QUICK); // the younger one doesn't wait
    const result = await runCli(younger, { cwd, env: { MARK: 'younger' } });
    expect(result, result.stderr).toMatchObject({ status: 0 });
    const warning = /^warning: run \S+ of job is still running: calls that both make are paid for twice, .*$/m;
    if (younger.includes('job.mld')) expect(result.stderr).toMatch(warning);
    else expect(result.stderr).not.toMatch(warning);
    fs.writeFileSync(path.join(cwd, 'go'), '');
    expect(await older).toMatchObject({ status: 0, stdout: 'older:ebb\nolder:gate\nolder:flow\n' });
    asked();

    fs.writeFileSync(path.join(cwd, 'job.mld'), JOB);
    const third = await runCli(['job.mld', '--checkpoint'], { cwd, env: { MARK: 'third' } });
    const isClean = younger.includes('clean');
    expect(third.stderr).not.toContain('is still running');
    expect(third.stdout).toBe(`${isClean ? 'third' : 'younger'}:ebb\nolder:gate\nolder:flow\n`);
    expect(asked()).toEqual(isClean ? ['ebb'] : []);
    for (const file of fs.readdirSync(path.join(cwd, '.mlld/journal/job.mld/runs'))) {
      expect(await runCli(['journal', 'verify', path.basename(file, '.ndjson')], { cwd })).toMatchObject({ status: 0 });
    }
  });
});

describe('a clock that was set back', () => {
  it('lets clean forget what stands before it in the order of the journal, and the next run begin behind that', async () => {
    const cwd = await projectFolder({ 'job.mld': QUICK });
    const ahead = { workflow: workflowOf('job.mld'), run: runIdAt(Date.now() + 3_600_000, '0000') };
    const journal = await openFileStore(cwd).create(ahead);
    for (const fact of [started(ahead), ...call('main/ask#0', 'ebb'), finished()]) await journal.append(fact);
    await journal.close();
    expect(JSON.parse((await runCli(['checkpoint', 'list', 'job', '--json'], { cwd })).stdout)).toHaveLength(1);
    expect(await runCli(['checkpoint', 'clean', 'job'], { cwd })).toMatchObject({ status: 0 });
    expect(JSON.parse((await runCli(['checkpoint', 'list', 'job', '--json'], { cwd })).stdout)).toEqual([]);
    await runCli(['job.mld', '--checkpoint'], { cwd, env: { MARK: 'first' } });
    expect((await runCli(['job.mld', '--checkpoint'], { cwd, env: { MARK: 'second' } })).stdout).toBe('first:ebb\n');
  });
});
