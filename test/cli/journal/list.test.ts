import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

let cwd: string;
const list = (...argv: string[]) => callCli(['journal', 'list', ...argv], { cwd });
const statuses = async (...argv: string[]) =>
  (JSON.parse((await list(...argv, '--json')).stdout) as { script: string; status: string }[]).map(
    ({ script, status }) => `${script} ${status}`,
  );

beforeAll(async () => {
  cwd = await projectFolder({
    'good.mld': 'exe llm @ask(q) = js { return "A:" + q; }\nshow @ask("ebb")\n',
    'bad.mld': 'exe llm @ask(q) = js { throw new Error("=no"); }\nshow @ask("ebb")\n',
  });
  for (const file of ['good.mld', 'bad.mld', 'good.mld']) await callCli([file, '--checkpoint'], { cwd });
});

describe('mlld journal list', () => {
  it('shows the latest runs first, as many as are asked for', async () => {
    expect(await statuses()).toEqual(['good completed', 'bad failed', 'good completed']);
    expect(await statuses('--last', '2')).toEqual(['good completed', 'bad failed']);
    expect((await list('--last', '0')).stderr).toContain('a whole number from 1');
  });

  it('filters by status, script and time', async () => {
    expect(await statuses('--failed')).toEqual(['bad failed']);
    expect(await statuses('--status', 'completed', '--last', '1')).toEqual(['good completed']);
    expect(await statuses('--status', 'completed', '--status', 'failed')).toHaveLength(3);
    expect(await statuses('--script', 'bad')).toEqual(['bad failed']);
    expect(await statuses('--since', '1h')).toHaveLength(3);
    expect(await statuses('--since', '2999-01-01')).toEqual([]);
    expect((await list('good', '--failed')).stdout).toBe('No recorded run is like that.\n');
  });

  it('leaves out of those that need somebody a run that was resumed to its end since, and not one with another payload', async () => {
    const folder = await projectFolder({
      'job.mld': 'exe llm @ask(q) = sh { cat a.txt }\nshow @ask("ebb")\n',
    });
    const failed = async () => JSON.parse((await callCli(['journal', 'list', '--failed', '--json'], { cwd: folder })).stdout) as object[];
    await callCli(['job.mld', '--checkpoint'], { cwd: folder });
    await callCli(['job.mld', '--checkpoint', '--place', 'north'], { cwd: folder });
    expect(await failed()).toHaveLength(2);
    await writeFile(join(folder, 'a.txt'), 'flow');
    expect(await callCli(['job.mld', '--resume'], { cwd: folder })).toMatchObject({ status: 0 });
    expect(await failed()).toMatchObject([{ status: 'failed' }]);
    expect(await callCli(['job.mld', '--resume', '--place', 'north'], { cwd: folder })).toMatchObject({ status: 0 });
    expect(await failed()).toEqual([]);
  });

  it.each([
    [['--status', 'lost'], '--status lost: there is no such status'],
    [['--since', 'monday'], '--since monday: not a time'],
    [['good', '--script', 'bad'], 'Both good and --script bad name a script'],
    [['--format', 'csv', '--json'], 'A report is printed as csv or as json, not both'],
    [['--format', 'xml'], 'csv'],
  ])('refuses %j', async (argv, message) => {
    const refused = await list(...argv);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain(message);
  });

  it('prints a table for spreadsheets', async () => {
    const [head, first, ...others] = (await list('--format', 'csv')).stdout.trim().split('\r\n');
    expect(head).toMatch(/^run,script,started,durationMs,status,executed,/);
    expect(first).toMatch(/^\S+,good,\S+Z,\d+,completed,/);
    expect(others).toHaveLength(2);
  });
});

describe('mlld journal stats', () => {
  it('prints a row for each function', async () => {
    const { stdout } = await callCli(['journal', 'stats', '--format', 'csv'], { cwd });
    expect(stdout).toMatch(/^fn,executed,reused,failed,.*\r\nask,1,1,1,/);
  });
});

describe('mlld journal audit', () => {
  it('prints the same with --format csv and --csv', async () => {
    const [format, csv] = [
      await callCli(['journal', 'audit', 'bad', '--format', 'csv'], { cwd }),
      await callCli(['journal', 'audit', 'bad', '--csv'], { cwd }),
    ];
    expect(format.stdout).toMatch(/^seq,ts,entry,/);
    expect(format.stdout).toBe(csv.stdout);
  });
});

describe('mlld journal show --full', () => {
  it('prints every member of an event below its line', async () => {
    const { stdout } = await callCli(['journal', 'show', 'bad', '--type', 'call', '--full'], { cwd });
    expect(stdout).toMatch(/@ask called with "ebb"\n(?: {9}.*\n)* {9}args\n {11}\[\n {11} {2}"ebb"\n {11}\]\n/);
    expect(stdout).toMatch(/ {9}class crash\n/);
  });
});
