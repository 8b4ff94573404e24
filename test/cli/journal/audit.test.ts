import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const SCRIPT = `exe llm @ask(text) = js { return "answer, about \\"" + text + "\\""; }
var @r = for @t in ["ebb", "flow"] => @ask(@t)
output @r to "out.json"
`;

describe('mlld journal audit', () => {
  it('lists what a run did, with previews also of reused results', async () => {
    const cwd = await projectFolder({ 'tide.mld': SCRIPT });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    const { stdout, status } = await callCli(['journal', 'audit', 'tide'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toMatch(/call {4}@ask\(ebb\) reused: from event \d+ of \S+ {2}main\/for#0\[0\]\/ask#0\n/);
    expect(stdout).toMatch(/file {4}write .*out\.json sha256:[0-9a-f]{12} /);
    expect(stdout).toContain('0 calls executed, 2 reused, 0 failed, 0 unfinished');
    expect(stdout).toMatch(/journal: \d+ events, chain sound\n$/);
  });

  it('tells what hooks cost, those that go well too', async () => {
    const cwd = await projectFolder({
      'tide.mld': 'exe @ask(t) = `A:@t`\nhook @trace after @ask = [ let @x = 1 ]\nshow @ask("ebb")\nshow @ask("flow")\n',
    });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    const { stdout } = await callCli(['journal', 'audit', 'tide'], { cwd });
    expect(stdout).toMatch(/0 errors in hooks\n {2}trace after @ask fired 2 times, \d+ms\njournal: /);
    expect(stdout).not.toContain(' hook ');
  });

  it('prints the same as JSON and as CSV', async () => {
    const cwd = await projectFolder({ 'tide.mld': SCRIPT });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    const json = JSON.parse((await callCli(['journal', 'audit', 'tide', '--json', '--label', 'llm'], { cwd })).stdout);
    expect(json).toMatchObject({ workflow: 'tide.mld', totals: { executed: 2 }, integrity: { ok: true } });
    expect(json.entries.map((entry: { entry: string }) => entry.entry).sort()).toEqual(['call', 'call', 'command', 'command']);
    const lines = (await callCli(['journal', 'audit', 'tide', '--csv'], { cwd })).stdout.trim().split('\n');
    expect(lines[0]?.trim()).toBe(
      'seq,ts,entry,op,subject,detail,try,outcome,class,retryInMs,lane,fromRun,fromSeq,savedUsd,model,inputTokens,outputTokens,costUsd,costSource,durationMs,exitCode,hash,labels,worker,workerHost,workerUsd',
    );
    expect(lines.find((line) => line.includes(',ebb,'))).toMatch(/,ask,ebb,1,executed,,,'@ask,,,,,,,,,[\d.]+,,,llm,,,/);
    expect(lines.filter((line) => line.includes(',call,'))).toHaveLength(2);
    expect(lines.find((line) => line.includes('return'))).toContain('"return ""answer,');
  });

  it('finds the calls that led to a file', async () => {
    const cwd = await projectFolder({ 'tide.mld': SCRIPT });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    const { stdout } = await callCli(['journal', 'audit', 'tide', '--file', 'out.json'], { cwd });
    expect(stdout).toContain('the file is what it wrote');
    expect(stdout).toContain('@ask(flow) reused');
    expect(stdout.match(/its result is in the file/g)).toHaveLength(2);
  });

  it('names the class of a failed call once', async () => {
    const cwd = await projectFolder({ 'tide.mld': 'exe llm @ask(q) = js { throw new Error("no tide") }\nshow @ask("ebb")\n' });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    const { stdout } = await callCli(['journal', 'audit', 'tide'], { cwd });
    expect(stdout).toContain('@ask(ebb) failed: crash, no tide, ');
  });

  it('refuses a time that is none', async () => {
    const cwd = await projectFolder({ 'tide.mld': SCRIPT });
    await callCli(['tide.mld', '--checkpoint'], { cwd });
    expect(await callCli(['journal', 'audit', 'tide', '--from', 'noon'], { cwd })).toMatchObject({ status: 1, stdout: '' });
  });
});
