import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunExplanation } from '../../../replay/reports/explain/explain-run.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, runCli } from '../../support/cli.js';

const script = (model: string, file: string): string => `
var @model = "${model}"
exe llm @review(file) = \`@model read @file\`
exe llm @shaky(q) = sh { exit 3 }
show @review("docs/a.md")
show @review("docs/${file}.md")
show @shaky("x")
`;

describe('mlld journal explain', () => {
  it('escapes the quotes inside an argument, so that a reader sees where it ends', async () => {
    const asking = (words: string): string => `exe llm @ask(q) = js { return q; }\nvar @q = '${words}'\nshow @ask(@q)\n`;
    const cwd = await projectFolder({ 'job.mld': asking('say "ebb"') });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    fs.writeFileSync(path.join(cwd, 'job.mld'), asking('say "flow"'));
    await callCli(['job.mld', '--checkpoint'], { cwd });
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toContain(String.raw`was "say \"ebb\"", is "say \"flow\""`);
  });

  it('says of every call whether its result was reused, and if not, why', async () => {
    const cwd = await projectFolder({ 'job.mld': script('sonnet', 'b') });
    const mlld = (...argv: string[]) => callCli(argv, { cwd });
    await mlld('job.mld', '--checkpoint');
    fs.writeFileSync(path.join(cwd, 'job.mld'), script('opus', 'c'));
    await mlld('job.mld', '--checkpoint');

    const { stdout } = await mlld('journal', 'explain', 'job');
    const [head, reused, changed, failed] = stdout.split('\n');
    expect(head).toMatch(/^\S+ of job\.mld: 3 calls, 1 reused, 1 of them from before an edit, 1 executed, 1 failed$/);
    expect(reused).toMatch(
      /^main\/review#0 @review\(docs\/a\.md\) reused from event \d+ of \S+, from before its definition was edited \(@model was sonnet, is opus\)$/,
    );
    expect(changed).toBe('main/review#1 @review(docs/c.md) executed: argument 1 was "docs/b.md", is "docs/c.md"');
    expect(failed).toMatch(/^main\/shaky#0 @shaky\(x\) executed, and failed: it failed in run \S+: crash: exit status 3$/);

    await mlld('job.mld', '--resume', '@review');
    expect((await mlld('journal', 'explain', 'job', 'main/review#1')).stdout).toMatch(
      /executed\nmain\/review#1 @review\(docs\/c\.md\) executed: --resume @review invalidated its result in this run\n$/,
    );
    await mlld('job.mld', '--fresh');
    expect((await mlld('journal', 'explain', 'latest')).stdout).toContain('--fresh invalidated its result in this run');
  });

  it('names what was edited where a function forwards something else', async () => {
    const wraps = (model: string, ask = '@ask(@q, @model)'): string =>
      `var @model = "${model}"\nexe llm @ask(q, m) = js { return m + q }\nexe llm @wrap(q) = ${ask}\nshow @wrap("a")\n`;
    const cwd = await projectFolder({ 'job.mld': wraps('sonnet') });
    const explained = async (text: string): Promise<string> => {
      fs.writeFileSync(path.join(cwd, 'job.mld'), text);
      await callCli(['job.mld', '--checkpoint'], { cwd });
      return (await callCli(['journal', 'explain', 'job', 'main/wrap#0'], { cwd })).stdout;
    };
    await explained(wraps('sonnet'));
    expect(await explained(wraps('opus'))).toContain(
      '@wrap(a) executed: what it forwards changed: its definition was edited (@model was sonnet, is opus)\n',
    );
    expect(await explained(wraps('opus', '@ask(@q, "small")'))).toContain('@wrap(a) executed: what it forwards changed: its ');
  });

  it('prints a report for programs', async () => {
    const cwd = await projectFolder({ 'job.mld': script('sonnet', 'b') });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    const { stdout } = await callCli(['journal', 'explain', 'job', '--json'], { cwd });
    const { workflow, calls } = JSON.parse(stdout) as RunExplanation;
    expect(workflow).toBe('job.mld');
    expect(calls.map(({ op, fn, outcome, miss }) => ({ op, fn, outcome, miss }))).toEqual([
      { op: 'main/review#0', fn: 'review', outcome: 'executed', miss: { why: 'new' } },
      { op: 'main/review#1', fn: 'review', outcome: 'executed', miss: { why: 'new' } },
      { op: 'main/shaky#0', fn: 'shaky', outcome: 'failed', miss: { why: 'new' } },
    ]);
  });

  it('says that there is nothing at a path, and that a run made no calls', async () => {
    const cwd = await projectFolder({ 'job.mld': 'show "nothing asked"\n' });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toMatch(/^\S+ of job\.mld: no llm calls\n$/);
    const { status, stderr } = await callCli(['journal', 'explain', 'job', 'main/for#0'], { cwd });
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('made no llm call in') as string });
  });

  it('says why a result is missing: redacted, removed with its run, recorded for another script', async () => {
    const ask = 'exe llm @ask(q) = `A:@q`\n';
    const cwd = await projectFolder({
      'job.mld': `${ask}show @ask("ebb")\nshow @ask("flow")\n`,
      'other.mld': `${ask}show @ask("ebb")\n`,
    });
    const mlld = (...argv: string[]) => callCli(argv, { cwd });
    const explained = async (script: string): Promise<string> => (await mlld('journal', 'explain', script, 'main/ask#0')).stdout;
    await mlld('job.mld', '--checkpoint');
    await mlld('other.mld', '--fork', 'job');
    await mlld('other.mld', '--checkpoint');
    expect(await explained('other')).toMatch(/executed: its result belongs to job\.mld, from which this run does not fork\n$/);

    const { stdout } = await mlld('journal', 'redact', 'job', '--op', 'main/ask#0', '--reason', 'asked by customer');
    expect(stdout).toContain('1 result of llm calls among them: a call that has no other result is executed again by the next run.\n');
    await mlld('job.mld', '--checkpoint');
    expect(await explained('job')).toMatch(/executed: its result was taken out of run \S+ \(asked by customer\)\n$/);

    await mlld('job.mld', '--checkpoint');
    for (const journal of fs.readdirSync(path.join(cwd, '.mlld/journal/job.mld/runs')).slice(0, 2)) {
      fs.rmSync(path.join(cwd, '.mlld/journal/job.mld/runs', journal), { recursive: true });
    }
    await mlld('job.mld', '--checkpoint');
    expect(await explained('job')).toMatch(/executed: its result was removed with run \S+\n$/);
  });

  it('tells of earlier runs what held then, whatever was taken out of the journal since', async () => {
    const cwd = await projectFolder({ 'job.mld': 'exe llm @ask(q) = `A:@q`\nshow @ask("ebb")\n' });
    const mlld = (...argv: string[]) => callCli(argv, { cwd });
    await mlld('job.mld', '--checkpoint');
    await mlld('job.mld', '--fresh');
    await mlld('job.mld', '--resume', '@ask');
    await mlld('job.mld', '--checkpoint');
    for (const run of ['job@4', 'job@3', 'job@2']) await mlld('journal', 'redact', run, '--op', 'main/ask#0');
    await mlld('job.mld', '--checkpoint');
    const reasons = await Promise.all(
      ['job@4', 'job@3', 'job@2', 'job@1'].map(async (run) => (await mlld('journal', 'explain', run)).stdout),
    );
    expect(reasons.map((text) => text.split('\n')[1])).toEqual([
      expect.stringMatching(/executed: --fresh invalidated its result in this run$/),
      expect.stringMatching(/executed: --resume @ask invalidated its result in this run$/),
      expect.stringMatching(/reused from event \d+ of \S+$/),
      expect.stringMatching(/executed: its result was taken out of run \S+ \(redacted\)$/),
    ]);
  });

  it('tells a crash', async () => {
    const cwd = await projectFolder({
      'job.mld': 'exe llm @ask(q) = sh { [ -f done ] || kill -9 $PPID; echo "A:$q" }\nshow @ask("ebb")\n',
    });
    await runCli(['job.mld', '--checkpoint'], { cwd });
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toMatch(/: 1 call, 0 reused, 0 executed, 1 not ended\n/);
    fs.writeFileSync(path.join(cwd, 'done'), '');
    expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe('A:ebb\n');
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toMatch(
      /executed: the run ended while it was in flight, in run \S+\n$/,
    );
  });
});
