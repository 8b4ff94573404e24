import fs from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call } from '../../support/written-runs.js';

async function project(argument = 'ebb'): Promise<string> {
  const cwd = await projectFolder();
  await recordRun(cwd, 1, call('main/ask#0', argument));
  return cwd;
}

describe('mlld journal export', () => {
  it.each(['otlp-json', 'chrome-trace'])('prints %s as one JSON document', async (format) => {
    const { stdout, status } = await callCli(['journal', 'export', 'latest', '--format', format], { cwd: await project() });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  });

  it('prints the events unchanged as ndjson', async () => {
    const cwd = await project();
    const { stdout } = await callCli(['journal', 'export', 'job', '--format', 'ndjson'], { cwd });
    const shown = await callCli(['journal', 'show', 'job', '--json'], { cwd });
    expect(stdout).toBe(shown.stdout);
    expect(stdout.split('\n').length).toBeGreaterThan(5);
  });

  it('quotes what CSV needs quoted, and defuses formulas', async () => {
    const { stdout } = await callCli(['journal', 'export', 'job', '--format', 'csv'], { cwd: await project('=SUM("a",\n1)') });
    expect(stdout.split('\r\n')[0]).toContain('run,seq,op,fn,outcome');
    expect(stdout).toContain(`"'=SUM(""a"",\n1)"`);
  });

  it('has a line for each attempt with --attempts', async () => {
    const cwd = await project('=SUM("a",\n1)');
    const { stdout } = await callCli(['journal', 'export', 'job', '--format', 'csv', '--attempts'], { cwd });
    expect(stdout.split('\r\n')[0]).toContain('run,seq,op,fn,call,try,outcome,class');
    expect(stdout).toContain(`"'=SUM(""a"",\n1)"`);
    const wrong = await callCli(['journal', 'export', 'job', '--format', 'ndjson', '--attempts'], { cwd });
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('--attempts is for --format csv') as string });
  });

  it('writes a file that only its owner can read', async () => {
    const cwd = await project();
    const { stdout } = await callCli(['journal', 'export', 'job', '--format', 'csv', '-o', 'calls.csv'], { cwd });
    expect(stdout).toBe('');
    expect((await fs.stat(path.join(cwd, 'calls.csv'))).mode & 0o777).toBe(0o600);
    expect(await fs.readdir(cwd)).not.toContainEqual(expect.stringMatching(/\.tmp$/));
  });

  it('sends spans to a collector, and says how many', async () => {
    const cwd = await project();
    let body = '';
    const server = createServer((request, response) => {
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => response.end('{}'));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sent = await callCli(['journal', 'export', 'job', '--endpoint', endpoint, '--with-content'], { cwd });
    server.close();
    expect(sent).toMatchObject({ status: 0, stdout: '', stderr: '3 spans sent in 1 request\n' });
    expect(body).toContain('gen_ai.input.messages');
    expect((await callCli(['journal', 'export', 'job', '--format', 'otlp-json'], { cwd })).stdout).not.toContain('messages');
  });

  it('says which flags do not go together, and that a format is missing', async () => {
    const cwd = await project();
    const wrong = async (...flags: string[]): Promise<string> => (await callCli(['journal', 'export', 'job', ...flags], { cwd })).stderr;
    expect(await wrong()).toContain('--format <format> is required by mlld journal export');
    expect(await wrong('--format', 'csv', '--with-content')).toContain('--with-content is for --format otlp-json');
    expect(await wrong('--format', 'csv', '--endpoint', 'http://127.0.0.1:1')).toContain('--endpoint is for --format otlp-json');
    expect(await wrong('--endpoint', 'nowhere')).toContain('is not the address of a collector');
  });

  it('says what is wrong with a file or a format', async () => {
    const cwd = await project();
    const lost = await callCli(['journal', 'export', 'job', '--format', 'csv', '-o', 'no/such/folder.csv'], { cwd });
    expect(lost).toMatchObject({ status: 1, stderr: expect.stringContaining("Can't write no/such/folder.csv") });
    expect(await callCli(['journal', 'export', 'job', '--format', 'xml'], { cwd })).toMatchObject({ status: 1, stdout: '' });
  });
});

it('marks the visit of a node that failed as an error', async () => {
  const dot =
    'digraph p { start [shape=Mdiamond]; exit [shape=Msquare]; t [shape=parallelogram, tool_command="exit 3"]; start -> t -> exit }';
  const cwd = await projectFolder({ 'p.dot': dot });
  await callCli(['run', 'p.dot'], { cwd });
  const { stdout } = await callCli(['journal', 'export', 'latest', '--format', 'otlp-json'], { cwd });
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
