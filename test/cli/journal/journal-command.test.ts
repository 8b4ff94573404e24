import fs from 'node:fs/promises';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, resultOf, startCli } from '../../support/cli.js';
import { recordCrash, recordRun } from '../../support/recorded-project.js';
import { call, finished, runRef, started } from '../../support/written-runs.js';

interface Line {
  readonly type: string;
  readonly op?: string;
}
const linesOf = (stdout: string): Line[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

describe('mlld journal list', () => {
  it('shows the latest run first, and what a crashed one was waiting for', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
    const crashed = await recordCrash(
      cwd,
      2,
      call('main/ask#0', 'flow'),
      call('main/ask#1', 'slack\u001B[2J water', { outcome: 'killed' }),
    );
    const { stdout, status } = await callCli(['journal', 'list'], { cwd });
    const lines = stdout.split('\n');
    expect(status).toBe(0);
    expect(lines[0]).toMatch(/^RUN +SCRIPT +STARTED +TOOK +STATUS +MODEL +EXECUTED +REUSED +FAILED +COST +SAVED$/);
    expect(lines[1]).toMatch(new RegExp(`^${crashed.run} +job +2026-01-01 00:02:00Z +\\S+ +crashed +- +1 +0 +0 +- +-$`));
    expect(lines[2]).toBe('  was in flight: @ask(slack\\u001b[2J water)');
    expect(lines[3]).toMatch(/ completed /);
  });

  it('prints the same as JSON', async () => {
    const cwd = await projectFolder();
    const { run } = await recordCrash(cwd, 1, call('main/ask#0', 'slack', { outcome: 'killed' }));
    const { stdout } = await callCli(['journal', 'list', 'job', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject([
      {
        run,
        script: 'job',
        workflow: 'job.mld',
        started: '2026-01-01T00:01:00.000Z',
        status: 'crashed',
        executed: 0,
        inFlight: [{ fn: 'ask', preview: 'slack' }],
      },
    ]);
  });

  it('says so when nothing is recorded', async () => {
    const cwd = await projectFolder();
    expect(await callCli(['journal', 'list'], { cwd })).toMatchObject({ stdout: 'No recorded runs.\n', status: 0 });
    expect(await callCli(['journal', 'list', 'job'], { cwd })).toMatchObject({ stdout: '', status: 1 });
  });
});

describe('mlld journal show', () => {
  it('prints a line for every event, without colours into a pipe', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
    const { stdout } = await callCli(['journal', 'show', 'latest'], { cwd });
    expect(stdout.split('\n')).toHaveLength(7);
    expect(stdout).toMatch(/^ {5}2 \d\d:\d\d:\d\d\.\d{3} main\/ask#0 @ask called with "ebb"$/m);
    expect(stdout).not.toContain('\u001B');
  });

  it('chooses by type, group and operation', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'), call('main/ask#1', 'flow'));
    const shown = async (...flags: string[]) => linesOf((await callCli(['journal', 'show', 'job', '--json', ...flags], { cwd })).stdout);
    expect((await shown('--type', 'call')).map(({ type }) => type)).toEqual([
      'call.started',
      'call.completed',
      'call.started',
      'call.completed',
    ]);
    expect((await shown('--type', 'run.started', '--type', 'run.finished')).map(({ type }) => type)).toEqual([
      'run.started',
      'run.finished',
    ]);
    expect(new Set((await shown('--op', 'main/ask#1')).map(({ op }) => op))).toEqual(new Set(['main/ask#1']));
    expect(await shown()).toHaveLength(10);
  });

  it('follows a run until it ends', async () => {
    const cwd = await projectFolder();
    const journal = await openFileStore(cwd).create(runRef(1));
    await journal.append(started(runRef(1)));
    const child = startCli(['journal', 'show', 'job', '--follow', '--json'], { cwd });
    const result = resultOf(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    for (const fact of call('main/ask#0', 'ebb')) await journal.append(fact);
    await journal.append(finished());
    await journal.close();
    expect(linesOf((await result).stdout).map(({ type }) => type)).toEqual([
      'run.started',
      'op.started',
      'call.started',
      'call.completed',
      'op.finished',
      'run.finished',
    ]);
  });

  it('names what there is when a run is unknown', async () => {
    const { stdout, stderr, status } = await callCli(['journal', 'show', 'nothing'], { cwd: await projectFolder() });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toMatch(/^Error: .*"nothing"/);
    expect(stderr).toContain('mlld journal list');
  });
});

describe('mlld journal verify', () => {
  it('accepts a sound run and one that crashed', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
    await recordCrash(cwd, 2, call('main/ask#0', 'flow', { outcome: 'killed' }));
    for (const run of ['job', 'job@2']) {
      expect(await callCli(['journal', 'verify', run], { cwd })).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('sound') as string,
      });
    }
  });

  it('says what is lost in a damaged one', async () => {
    const cwd = await projectFolder();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
    const [file = ''] = globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true });
    const text = await fs.readFile(path.join(cwd, file), 'utf8');
    await fs.writeFile(path.join(cwd, file), text.replace('A:\\"ebb', 'B:\\"ebb'));
    const { stdout, status } = await callCli(['journal', 'verify', 'job'], { cwd });
    expect(status).toBe(1);
    expect(stdout).toMatch(/not sound/);
    expect(stdout).toMatch(/line 4/);
    const json = await callCli(['journal', 'verify', 'job', '--json'], { cwd });
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, defects: [{ kind: 'corrupt' }] });
  });

  it('accepts a last line that a crash cut short', async () => {
    const cwd = await projectFolder();
    await recordCrash(cwd, 1, call('main/ask#0', 'ebb'));
    const [file = ''] = globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true });
    await fs.appendFile(path.join(cwd, file), '{"v":1,"seq":');
    const { stdout, status } = await callCli(['journal', 'verify', 'job'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toContain('torn-tail');
  });
});
