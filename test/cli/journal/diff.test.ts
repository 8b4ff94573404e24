import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const script = (items: string, body = '"A:" + text'): string => `exe llm @ask(text) = js { return ${body}; }
var @r = for @t in [${items}] => @ask(@t)
show @r
`;

async function twoRuns(first: string, second: string, ...flags: readonly string[]) {
  const cwd = await projectFolder({ 'tide.mld': first });
  await callCli(['tide.mld', '--checkpoint'], { cwd });
  await fs.writeFile(path.join(cwd, 'tide.mld'), second);
  await callCli(['tide.mld', '--checkpoint', ...flags], { cwd });
  return (...argv: readonly string[]) => callCli(['journal', 'diff', 'tide@2', 'tide', ...argv], { cwd });
}

describe('mlld journal diff', () => {
  it('finds no difference between a run and one that reused all of it, and exits with 0', async () => {
    const diff = await twoRuns(script('"ebb"'), script('"ebb"'));
    const { stdout, status } = await diff();
    expect(status).toBe(0);
    expect(stdout).toContain('1 call the same, 0 changed, 0 only left, 0 only right');
  });

  it('shows what changed across an edit, and exits with 1', async () => {
    const diff = await twoRuns(script('"ebb", "flow"'), script('"spring", "ebb"', '"B:" + text'), '--changed', 'ask');
    const { stdout, status } = await diff();
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /~ @ask\(ebb\) main\/for#0\[0\]\/ask#0 -> main\/for#0\[1\]\/ask#0: definition, result\n {4}result was "A:ebb", is "B:ebb"\n/,
    );
    expect(stdout).toContain('source tide.mld');
    expect(stdout).toContain('+var @r = for @t in ["spring", "ebb"]');
    expect(JSON.parse((await diff('--json')).stdout)).toMatchObject({
      same: false,
      output: { same: false },
      sources: [{ path: 'tide.mld' }],
    });
  });

  it('compares the script of a fork with that of its source, line by line', async () => {
    const cwd = await projectFolder({ 'tide.mld': script('"ebb"'), 'moon.mld': script('"ebb", "neap"') });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    await callCli(['moon.mld', '--fork', 'tide.mld'], { cwd });
    const { stdout } = await callCli(['journal', 'diff', 'tide', 'moon'], { cwd });
    expect(stdout).toContain('1 call the same, 0 changed, 0 only left, 1 only right');
    expect(stdout).toMatch(
      /source tide\.mld, then moon\.mld\n {2}@ line 1\n {3}exe llm.*\n {2}-var @r = .*\n {2}\+var @r = .*\n {3}show @r\n/,
    );
    expect(stdout.match(/^source /gm)).toHaveLength(1);
    const { stdout: json } = await callCli(['journal', 'diff', 'tide', 'moon', '--json'], { cwd });
    expect(JSON.parse(json)).toMatchObject({ sources: [{ path: 'moon.mld', leftPath: 'tide.mld' }] });
  });

  it('shows where two runs parted', async () => {
    const diff = await twoRuns(script('"ebb", "flow"'), script('"ebb", "neap"'));
    const { stdout, status } = await diff('--fork-point');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^1 call the same, with the same results; the last: @ask\(ebb\)/m);
    expect(stdout).toMatch(/- @ask\(flow\).*\n\+ @ask\(neap\)/);
  });

  it('exits with 2 when there is nothing to compare', async () => {
    expect(await callCli(['journal', 'diff', 'a', 'b'], { cwd: await projectFolder() })).toMatchObject({ status: 2, stdout: '' });
  });

  it('compares two pipelines node by node', async () => {
    const dot = (status: number) =>
      `digraph leak { start [shape=Mdiamond]; exit [shape=Msquare]; pump [shape=parallelogram, tool_command="exit ${status}", max_retries=0]; start -> pump -> exit }`;
    const cwd = await projectFolder({ 'leak.dot': dot(3) });
    await callCli(['run', 'leak.dot'], { cwd });
    await fs.writeFile(path.join(cwd, 'leak.dot'), dot(0));
    await callCli(['run', 'leak.dot'], { cwd });
    const { stdout, status } = await callCli(['journal', 'diff', 'leak.dot@2', 'leak.dot'], { cwd });
    expect(status).toBe(1);
    expect(stdout).toContain('1 visit of nodes the same, 1 changed, 0 only left, 1 only right\n');
    expect(stdout).toContain('~ pump main/pump#0: fail (the command ended with status 3) -> success, context, goes to nothing -> exit\n');
    expect(stdout).toContain('    tool.exit_code: 3 -> 0\n');
    expect(await callCli(['journal', 'diff', 'leak.dot', 'leak.dot'], { cwd })).toMatchObject({ status: 0 });
    const fork = await callCli(['journal', 'diff', 'leak.dot@2', 'leak.dot', '--fork-point'], { cwd });
    expect(fork.status).toBe(1);
    expect(fork.stdout).toContain('1 visit of nodes the same; the last: start main/start#0: success\nThen\n~ pump main/pump#0: fail');
    expect(fork.stdout).not.toContain('do not part');
    const same = await callCli(['journal', 'diff', 'leak.dot', 'leak.dot', '--fork-point'], { cwd });
    expect(same).toMatchObject({ status: 0, stdout: expect.stringMatching(/; the last: exit.*\n\nNo calls\.\nThey do not part\.\n$/) });
  });
});
