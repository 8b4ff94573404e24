/**
 * The same crashed run, resumed by two processes at the same moment.
 *
 * A pipeline is a walk, which only one of them may continue. A script reuses recorded results: both may run, each reuses what was
 * recorded when it started, and the journal holds both.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { pipeline } from '../support/pipeline-run.js';
import { projectFolder, resultOf, runCli, startCli, type CliResult } from '../support/cli.js';

const ROUNDS = 2;
/** A long while between looking what there is to resume and beginning a run. */
const SLOW = `
const fs = require('node:fs');
const { openSync } = fs;
fs.openSync = (name, ...rest) => {
  if (String(name).endsWith('.lock')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
  return openSync(name, ...rest);
};
`;

function lines(cwd: string): string[] {
  const log = path.join(cwd, 'asked.txt');
  return fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
}

/** Starts it and kills it once it has made the call with this argument. */
async function crash(cwd: string, argv: readonly string[], question: string): Promise<void> {
  const child = startCli(argv, { cwd });
  child.stdin.end();
  while (!lines(cwd).includes(question)) await sleep(5);
  child.kill('SIGKILL');
  await resultOf(child);
}

const twice = (cwd: string, argv: readonly string[]): Promise<readonly CliResult[]> =>
  Promise.all([0, 1].map(() => runCli(argv, { cwd, env: { NODE_OPTIONS: `--require=${path.join(cwd, 'slow.cjs')}` } })));

async function verified(cwd: string, workflow: string): Promise<number> {
  const runs = fs.readdirSync(path.join(cwd, '.mlld/journal', workflow, 'runs')).filter((name) => name.endsWith('.ndjson'));
  for (const name of runs)
    expect(await runCli(['journal', 'verify', path.basename(name, '.ndjson')], { cwd })).toMatchObject({ status: 0 });
  return runs.length;
}

describe('a crashed run that two processes resume at once', () => {
  it('continues once when it is a pipeline: the other is refused', { timeout: 120_000 }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const text = pipeline(
        'a [prompt="a"]; b [prompt="b"]; start -> a -> b -> exit',
        'backend="cmd:echo $MLLD_NODE_ID >> asked.txt; sleep 0.3; echo reply"',
      );
      const cwd = await projectFolder({ 'p.dot': text, 'slow.cjs': SLOW });
      await crash(cwd, ['run', 'p.dot'], 'b');
      const results = await twice(cwd, ['run', 'p.dot', '--resume']);
      expect(results.filter(({ status }) => status === 0)).toHaveLength(1);
      const refused = results.find(({ status }) => status === 1);
      expect(refused?.stderr).toMatch(/--resume: run \S+ of p\.dot is still running/);
      expect(lines(cwd)).toEqual(['a', 'b', 'b']); // once again what the crash cut short
      expect(await verified(cwd, 'p.dot')).toBe(2);
      expect(fs.readdirSync(path.join(cwd, '.mlld/journal/p.dot'))).toEqual(['runs']);
    }
  });

  it('is reused by both when it is a script', { timeout: 120_000 }, async () => {
    const script = `exe llm @ask(q) = sh { echo "$q" >> asked.txt; sleep 0.3; echo "A:$q" }
show @ask("ebb")
show @ask("flow")
show @ask("slack")
`;
    const cwd = await projectFolder({ 'job.mld': script, 'slow.cjs': SLOW });
    await crash(cwd, ['job.mld', '--checkpoint'], 'flow');
    for (const { status, stdout } of await twice(cwd, ['job.mld', '--resume'])) {
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'A:ebb\nA:flow\nA:slack\n' });
    }
    expect(lines(cwd).filter((question) => question === 'ebb')).toEqual(['ebb']);
    expect(await verified(cwd, 'job.mld')).toBe(3);
    const before = lines(cwd).length;
    expect((await runCli(['job.mld', '--resume'], { cwd })).stdout).toBe('A:ebb\nA:flow\nA:slack\n');
    expect(lines(cwd)).toHaveLength(before);
  });
});
