/** Calls whose command prints very much: paid for once, whatever a script can do with it. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it, vi } from 'vitest';
import { projectFolder, resultOf, runCli, startCli } from '../../support/cli.js';

vi.setConfig({ testTimeout: 120_000 });

/** A script whose call prints so many bytes, and how often it was executed. */
async function project(bytes: number): Promise<{ cwd: string; executions: () => Promise<number> }> {
  const cwd = await projectFolder({
    'llm/run/big.mld': `exe llm @big() = sh { echo run >> executed; head -c ${bytes} /dev/zero | tr '\\0' x }\nvar @text = @big()\nshow @text.length\n`,
  });
  const executions = async (): Promise<number> => (await fs.readFile(path.join(cwd, 'executed'), 'utf8')).split('\n').length - 1;
  return { cwd, executions };
}

const temporary = (cwd: string): string[] => globSync('.mlld/journal/**/*.tmp', { cwd, dot: true });

describe('a call whose command prints 100 MiB', () => {
  it('is executed once over two runs', async () => {
    const { cwd, executions } = await project(100 * 1024 * 1024);
    for (let run = 1; run <= 2; run++) {
      const { stdout, status } = await runCli(['run', 'big', '--checkpoint'], { cwd });
      expect({ stdout, status }).toEqual({ stdout: `${100 * 1024 * 1024}\n`, status: 0 });
    }
    expect(await executions()).toBe(1);
    expect(temporary(cwd)).toEqual([]);
  });
});

describe('a call whose command prints more than a text can hold', () => {
  it('fails with the name of the blob, fails at once when it is resumed, and is executed again with --resume @fn', async () => {
    const { cwd, executions } = await project(600_000_000);
    const first = await runCli(['run', 'big', '--checkpoint'], { cwd });
    expect(first.status).toBe(1);
    const [said = '', digits = ''] = /the command wrote 600000000 bytes.* as blob sha256:([0-9a-f]{64})/.exec(first.stderr) ?? [];
    const [blob = ''] = globSync(`.mlld/journal/blobs/*/${digits}`, { cwd, dot: true, absolute: true });
    expect((await fs.stat(blob)).size).toBe(600_000_000);
    for (const how of ['--checkpoint', '--resume']) {
      const again = await runCli(['run', 'big', how], { cwd });
      expect(again.status).toBe(1);
      expect(again.stderr).toContain(said);
      expect(await executions()).toBe(1);
    }
    expect(await runCli(['journal', 'replay', 'latest'], { cwd })).toMatchObject({ status: 0 });
    expect(await runCli(['journal', 'verify', 'latest'], { cwd })).toMatchObject({ status: 0 });
    await runCli(['journal', 'gc', '--keep', '9'], { cwd });
    expect((await fs.stat(blob)).size).toBe(600_000_000);
    const redacted = await runCli(['journal', 'redact', 'latest', '--match', 'no such text'], { cwd });
    expect(redacted).toMatchObject({ status: 0, stderr: '' });
    await runCli(['run', 'big', '--resume', '@big'], { cwd });
    expect(await executions()).toBe(2);
  });
});

it('a stage of a pipeline whose command prints more than a text can hold fails without another try', async () => {
  const cwd = await projectFolder({
    'p.dot': 'digraph p { start [shape=Mdiamond]; done [shape=Msquare]; a [prompt="write", max_retries=3]; start -> a -> done }',
    'agent.sh': `echo run >> executed; head -c 600000000 /dev/zero\n`,
  });
  const { status, stderr } = await runCli(['run', 'p.dot', '--backend', 'cmd:sh agent.sh'], { cwd });
  expect(status).toBe(1);
  expect(stderr).toMatch(/the command wrote 600000000 bytes.* as blob sha256:/);
  expect(await fs.readFile(path.join(cwd, 'executed'), 'utf8')).toBe('run\n');
});

it('a kill while output arrives leaves a temporary file, which `journal gc` removes when no run is running', async () => {
  const cwd = await projectFolder({
    'llm/run/big.mld': `exe llm @big() = sh { head -c 30000000 /dev/zero; echo $$ > pid; sleep 60 }\nshow @big().length\n`,
  });
  const child = startCli(['run', 'big', '--checkpoint'], { cwd });
  const ended = resultOf(child);
  await expect.poll(() => fs.readFile(path.join(cwd, 'pid'), 'utf8').catch(() => ''), { timeout: 30_000 }).toMatch(/\n/);
  await expect.poll(() => temporary(cwd).length, { timeout: 30_000 }).toBe(1);
  await runCli(['journal', 'gc'], { cwd });
  expect(temporary(cwd)).toHaveLength(1); // it is being written
  child.kill('SIGKILL');
  try {
    process.kill(-Number(await fs.readFile(path.join(cwd, 'pid'), 'utf8')), 'SIGKILL');
  } catch {
    // it has ended with its parent
  }
  await ended;
  expect(await runCli(['journal', 'list'], { cwd })).toMatchObject({ status: 0, stdout: expect.stringContaining('crashed') as string });
  await runCli(['journal', 'gc'], { cwd });
  expect(temporary(cwd)).toEqual([]);
});
