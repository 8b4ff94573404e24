import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call } from '../../support/written-runs.js';

async function project(argument = 'ebb'): Promise<string> {
  const cwd = await projectFolder();
  await recordRun(cwd, 1, call('main/ask#0', argument));
  return cwd;
}

describe('mlld journal export', () => {
  it.each(['otlp-json', 'chrome-trace'])('prints %s as one JSON document', async (format) => {
    const { stdout, status } = await runCli(['journal', 'export', 'latest', '--format', format], { cwd: await project() });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  });

  it('prints the events unchanged as ndjson', async () => {
    const cwd = await project();
    const { stdout } = await runCli(['journal', 'export', 'job', '--format', 'ndjson'], { cwd });
    const shown = await runCli(['journal', 'show', 'job', '--json'], { cwd });
    expect(stdout).toBe(shown.stdout);
    expect(stdout.split('\n').length).toBeGreaterThan(5);
  });

  it('quotes what CSV needs quoted, and defuses formulas', async () => {
    const { stdout } = await runCli(['journal', 'export', 'job', '--format', 'csv'], { cwd: await project('=SUM("a",\n1)') });
    expect(stdout.split('\r\n')[0]).toContain('run,seq,op,fn,outcome');
    expect(stdout).toContain(`"'=SUM(""a"",\n1)"`);
  });

  it('writes a file that only its owner can read', async () => {
    const cwd = await project();
    const { stdout } = await runCli(['journal', 'export', 'job', '--format', 'csv', '-o', 'calls.csv'], { cwd });
    expect(stdout).toBe('');
    expect((await fs.stat(path.join(cwd, 'calls.csv'))).mode & 0o777).toBe(0o600);
    expect(await fs.readdir(cwd)).not.toContainEqual(expect.stringMatching(/\.tmp$/));
  });

  it('says what is wrong with a file or a format', async () => {
    const cwd = await project();
    const lost = await runCli(['journal', 'export', 'job', '--format', 'csv', '-o', 'no/such/folder.csv'], { cwd });
    expect(lost).toMatchObject({ status: 1, stderr: expect.stringContaining("Can't write no/such/folder.csv") });
    expect(await runCli(['journal', 'export', 'job', '--format', 'xml'], { cwd })).toMatchObject({ status: 1, stdout: '' });
  });
});

it('marks the visit of a node that failed as an error', async () => {
  const dot =
    'digraph p { start [shape=Mdiamond]; exit [shape=Msquare]; t [shape=parallelogram, tool_command="exit 3"]; start -> t -> exit }';
  const cwd = await projectFolder({ 'p.dot': dot });
  await runCli(['run', 'p.dot'], { cwd });
  const { stdout } = await runCli(['journal', 'export', 'latest', '--format', 'otlp-json'], { cwd });
  const { spans } = (JSON.parse(stdout) as Traces).resourceSpans[0].scopeSpans[0];
  const visit = spans.find(({ name }) => name === 'node t');
  expect(visit?.status).toEqual({ code: 2, message: 'the command ended with status 3' });
  expect(visit?.attributes).toContainEqual({ key: 'error.type', value: { stringValue: 'STAGE_FAILED' } });
});

interface Traces {
  readonly resourceSpans: readonly [
    { readonly scopeSpans: readonly [{ readonly spans: readonly { name: string; status: object; attributes: readonly object[] }[] }] },
  ];
}
