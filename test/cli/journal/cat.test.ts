import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../src/api/reports/call.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const SCRIPT = `
exe llm @review(file) = js { if (file === "c.md" && !process.env.CALM) throw new Error("bad reply"); return "R:" + file + "\\nsecond line"; }
exe llm @both(left, right) = js { return { left, right }; }
var @r = for @file in ["a.md", "b.md"] => @review(@file)
show @both("ebb", { "feet": [1, 2] })
show @review("c.md")
`;

let cwd: string;
const cat = (...argv: string[]) => callCli(['journal', 'cat', ...argv], { cwd });

beforeAll(async () => {
  cwd = await projectFolder({ 'job.mld': SCRIPT });
  await callCli(['job.mld', '--checkpoint'], { cwd });
  await callCli(['job.mld', '--checkpoint'], { cwd });
});

describe('mlld journal cat', () => {
  it('prints arguments and result of a call whole', async () => {
    expect((await cat('job@2', 'main/for#0[0]/review#0')).stdout).toMatch(
      /^@review at main\/for#0\[0\]\/review#0 of run \S+: answered\n {2}attempt 1: answered after \S+\n\nargument\na\.md\n\nresult\nR:a\.md\nsecond line\n$/,
    );
  });

  it('prints them of a reused call, and says where they come from', async () => {
    const { stdout } = await cat('job', 'main/both#0');
    expect(stdout).toMatch(
      /^@both at main\/both#0 of run \S+: reused from event \d+ of run \S+\n\nargument 1\nebb\n\nargument 2\n\{\n {2}"feet": \[/,
    );
    expect(stdout).toContain('result\n{\n  "left": "ebb",');
  });

  it('takes the one call inside an operation, and names several', async () => {
    expect((await cat('job@2', 'main/for#0[1]', '--result')).stdout).toBe('R:b.md\nsecond line\n');
    const several = await cat('job@2', 'main');
    expect(several).toMatchObject({ status: 1, stdout: '' });
    expect(several.stderr).toMatch(
      /4 llm calls are in main: main\/for#0\[0\]\/review#0, .*\n {2}hint: name one of them: mlld journal cat \S+ 'main\/for#0\[0\]\/review#0'\n$/,
    );
    expect((await cat('job@2', 'main/nothing#0')).stderr).toMatch(/made no llm call in main\/nothing#0\n {2}hint: mlld journal explain/);
  });

  it('prints only the arguments, or only the result, as data', async () => {
    expect((await cat('job', 'main/for#0[0]', '--prompt')).stdout).toBe('a.md\n');
    expect(JSON.parse((await cat('job', 'main/both#0', '--prompt')).stdout)).toEqual(['ebb', { feet: [1, 2] }]);
    expect(JSON.parse((await cat('job', 'main/both#0', '--result')).stdout)).toEqual({ left: 'ebb', right: { feet: [1, 2] } });
    expect(await cat('job', 'main/review#0', '--result')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('there is none'),
    });
    expect((await cat('job', 'main/both#0', '--result', '--json')).stderr).toContain('Only one of --prompt, --result and --json');
  });

  it('lists the attempts of a failed call', async () => {
    const call = JSON.parse((await cat('job', 'main/review#0', '--json')).stdout) as CallRecord;
    expect(call).toMatchObject({
      fn: 'review',
      outcome: 'failed',
      arguments: { value: ['c.md'] },
      attempts: [{ try: 1, outcome: 'failed', class: 'crash' }],
    });
    expect(call.result).toEqual({ missing: 'there is none' });
  });

  it('reads what lies in a blob, and says why a text is gone', async () => {
    const folder = await projectFolder({ 'big.mld': 'exe llm @long(word) = js { return word.repeat(40000); }\nvar @x = @long("tide")\n' });
    await callCli(['big.mld', '--checkpoint'], { cwd: folder });
    const result = await callCli(['journal', 'cat', 'big', 'main/long#0', '--result'], { cwd: folder });
    expect(result.stdout).toBe(`${'tide'.repeat(40_000)}\n`);
    await callCli(['journal', 'redact', 'big', '--op', 'main/long#0', '--reason', 'asked by customer'], { cwd: folder });
    expect((await callCli(['journal', 'cat', 'big', 'main/long#0'], { cwd: folder })).stdout).toContain(
      '(taken out of the journal: asked by customer)',
    );
  });

  it('shows no secret', async () => {
    const folder = await projectFolder({
      'job.mld': 'var secret @key = "hush-4711"\nexe llm @ask(q) = js { return "got " + q; }\nvar @x = @ask(@key)\n',
    });
    await callCli(['job.mld', '--checkpoint'], { cwd: folder });
    const { stdout } = await callCli(['journal', 'cat', 'job', 'main/ask#0'], { cwd: folder });
    expect(stdout).toMatch(/argument.*\n\(it holds a secret/);
    expect(stdout).not.toContain('hush');
  });

  it('says where the result of a reused call is no longer there', async () => {
    const folder = await projectFolder({ 'job.mld': 'exe llm @ask(q) = js { return "A:" + q; }\nvar @x = @ask("ebb")\n' });
    await callCli(['job.mld', '--checkpoint'], { cwd: folder });
    await callCli(['job.mld', '--checkpoint'], { cwd: folder });
    const runs = path.join(folder, '.mlld/journal/job.mld/runs');
    const [first = ''] = fs.readdirSync(runs).toSorted();
    fs.rmSync(path.join(runs, first), { recursive: true });
    expect((await callCli(['journal', 'cat', 'job', 'main/ask#0'], { cwd: folder })).stdout).toMatch(
      /reused from event \d+ of run \S+\n\narguments\n\(not recorded\)\n\nresult\n\(its run is gone\)\n$/,
    );
  });
});
