import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { Fact } from '../../../journal/event.js';
import { workflowOf, type RunRef } from '../../../journal/ids.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult, withoutSummary } from '../../support/cli.js';

const CALLS = `exe llm @review(x) = js { return "R:" + x; }
exe llm @plain(x) = js { return "P:" + x; }
var @reviews = for @item in ["a", "b"] => @review(@item)
var @other = @plain("z")
show @reviews
`;
const QUALITY = 'guard @quality after @review = when [ @output == "R:c" => deny "bad"; * => allow ]\n';

async function project(script: string, more: { readonly [name: string]: string } = {}) {
  const cwd = await projectFolder({ 'job.mld': script, ...more });
  return {
    cwd,
    run: (...argv: string[]): Promise<CliResult> => callCli(['job.mld', ...argv], { cwd }),
    edit: (text: string, name = 'job.mld') => fs.writeFile(path.join(cwd, name), text),
    calls: async (): Promise<string[]> => {
      const { stdout } = await callCli(['journal', 'explain', 'job', '--json'], { cwd });
      const { calls } = JSON.parse(stdout) as { readonly calls: readonly { readonly fn: string; readonly hit?: object }[] };
      return calls.map(({ fn, hit }) => `${fn} ${hit === undefined ? 'executed' : 'reused'}`);
    },
  };
}

describe('a guard that a recorded result has not seen', () => {
  it.each([
    ['was added', CALLS, QUALITY + CALLS],
    ['was changed', QUALITY + CALLS, QUALITY.replace('bad', 'worse') + CALLS],
    ['was taken away', QUALITY + CALLS, CALLS],
  ])('%s: the run says so, and executes again when asked to', async (what, before, now) => {
    const { run, edit, calls } = await project(before);
    await run('--checkpoint');
    await edit(now);
    const reused = await run('--checkpoint');
    expect(withoutSummary(reused.stderr)).toBe(
      `@review: 2 results reused from before guard @quality ${what}; --resume @review or --changed ask-guards runs them again\n`,
    );
    expect(await calls()).toEqual(['review reused', 'review reused', 'plain reused']);
    expect(withoutSummary((await run('--changed', 'ask-guards')).stderr)).toBe('');
    expect(await calls()).toEqual(['review executed', 'review executed', 'plain reused']);
    expect(withoutSummary((await run('--checkpoint')).stderr)).toBe('');
  });

  it('is honoured by `--changed ask` as well, and may refuse', async () => {
    const { run, edit, calls } = await project(CALLS);
    await run('--checkpoint');
    await edit(QUALITY.replace('R:c', 'R:b') + CALLS);
    const { status, stderr } = await run('--changed', 'ask');
    expect([status, stderr]).toEqual([1, expect.stringContaining('Guard @quality denied the operation: bad')]);
    expect(await calls()).toEqual(['review executed', 'review executed']);
  });

  it('is not needed where only the function was edited', async () => {
    const { run, edit, calls } = await project(QUALITY + CALLS);
    await run('--checkpoint');
    await edit(QUALITY + CALLS.replace('"R:"', '"S:"'));
    const { stderr } = await run('--changed', 'ask-guards');
    expect(stderr).toContain('@review: 2 results reused from before its body was edited');
    expect(await calls()).toEqual(['review reused', 'review reused', 'plain reused']);
  });

  it('counts only where it would be consulted', async () => {
    const { run, edit } = await project(CALLS);
    await run('--checkpoint');
    await edit(`guard before op:show = when [ * => allow ]\nguard before pii = when [ * => deny "private" ]\n${CALLS}`);
    expect(withoutSummary((await run('--checkpoint')).stderr)).toBe('');
  });

  it.each([
    ['looked up by the label of an argument', 'guard @private before pii = when [ @input == "q" => deny "no"; * => allow ]\n', '@private'],
    [
      'that watches what happens inside the call',
      'guard @inner before @helper = when [ @input == "q" => deny "no"; * => allow ]\n',
      '@inner',
    ],
    ['in a module', 'import { gate } from "./gates.mld"\n', '@gate'],
    ['without a name', 'guard before op:helps = when [ @input == "q" => deny "no"; * => allow ]\n', 'before op:helps'],
  ])('may be one %s', async (_, guard, name) => {
    const script = `exe helps @helper(x) = js { return x + "!"; }
exe llm @review(x) = [ => @helper(@x) ]
var pii @name = "Ada"
show @review(@name)
`;
    const gates = 'guard @gate before @review = when [ @input == "q" => deny "no"; * => allow ]\nexport { @gate }\n';
    const { run, edit } = await project(script, { 'gates.mld': gates });
    await run('--checkpoint');
    await edit(guard + script);
    const { stderr } = await run('--checkpoint');
    expect(stderr).toContain(`@review: 1 result reused from before guard ${name} was added; `);
  });

  it('changes with a function or a variable that it uses', async () => {
    const script = (limit: number): string =>
      `var @limit = ${limit}\nexe @long(text) = js { return text.length > 9; }\nguard @short after @review = when [ @long(@output) && @limit > 1 => deny "long"; * => allow ]\n${CALLS}`;
    const { run, edit } = await project(script(1));
    await run('--checkpoint');
    await edit(script(2));
    expect((await run('--checkpoint')).stderr).toContain('from before guard @short was changed');
    await edit(script(2).replace('> 9', '> 99'));
    expect((await run('--checkpoint')).stderr).toContain('guard @short was changed');
  });

  it('holds for no call that a guard makes, in a plan as in the run', async () => {
    const script = `exe llm @judge(t) = js { return "ok " + t }
exe llm @draft(n) = js { return "D:" + n }
guard @strict after @judge = when [ @output == "never" => deny "a"; * => allow ]
guard @check after @draft = when [ @judge(@output) == "no" => deny "bad"; * => allow ]
show @draft("a")
show @judge("outside")
`;
    const { run, edit, calls } = await project(script);
    await run('--checkpoint');
    await edit(script.replace('"bad"', '"worse"'));
    const { stdout } = await run('--changed', 'ask-guards', '--plan');
    expect(stdout).toContain('@draft: 0 reused, 1 again (--changed ask-guards)');
    expect(stdout).toContain('@judge: 2 reused');
    await run('--changed', 'ask-guards');
    expect(await calls()).toEqual(['draft executed', 'judge reused', 'judge reused']);
  });

  it('is not taken away for a call that a guard makes as well, and that was made elsewhere', async () => {
    const { cwd, run, calls } = await project(`exe llm @judge(t) = js { return "ok " + t }
exe llm @draft(n) = js { return "D:" + n }
guard @strict after @judge = when [ @output == "never" => deny "a"; * => allow ]
guard @check after @draft = when [ @judge("both") == "no" => deny "bad"; * => allow ]
show @judge("both")
show @draft("a")
`);
    const first = await run('--checkpoint');
    expect(first.stderr).not.toContain('guard @strict');
    expect(await calls()).toEqual(['judge executed', 'draft executed', 'judge reused']);
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).not.toContain('guard @strict');
    const plan = await run('--changed', 'ask-guards', '--plan');
    expect(plan.stdout).toContain('@judge: 1 reused\n');
    expect(plan.stdout).not.toContain('guard @strict');
  });

  it('is named by a plan and by an explanation', async () => {
    const { cwd, run, edit } = await project(CALLS);
    await run('--checkpoint');
    await edit(QUALITY + CALLS);
    expect((await run('--checkpoint', '--plan')).stdout).toContain('edited: guard @quality was added; 2 results from before are reused');
    expect((await run('--changed', 'ask-guards', '--plan')).stdout).toContain('@review: 0 reused, 2 again (--changed ask-guards)');
    await run('--checkpoint');
    const { stdout } = await callCli(['journal', 'explain', 'job'], { cwd });
    expect(stdout).toContain('from before guard @quality was added');
  });
});

describe('a hook inside a call', () => {
  const script = `exe @helper(x) = js { return x + "!"; }
exe llm @review(x) = [ => @helper(@x) ]
show @review("a")
`;

  it('counts where it replaces a value', async () => {
    const { run, edit } = await project(script);
    await run('--checkpoint');
    await edit(`hook @shout after @helper = [ => \`@output!\` ]\n${script}`);
    expect((await run('--checkpoint')).stderr).toContain('@review: 1 result reused from before hook @shout was added; ');
    expect((await run('--changed', 'ask')).stdout).toContain('a!!');
  });

  it('does not count where it only looks, and the hooks of the call itself see what is reused', async () => {
    const { run, edit } = await project(script);
    await run('--checkpoint');
    await edit(`hook @watch after @helper = [ log \`saw @output\` ]\nhook @loud after @review = [ => \`loud @output\` ]\n${script}`);
    const { stdout, stderr } = await run('--checkpoint');
    expect([stdout, withoutSummary(stderr)]).toEqual(['loud a!\n', '']);
  });
});

it('a journal of an older program, which did not record guards, is reused without a word', async () => {
  const recorded = await project(CALLS);
  await recorded.run('--checkpoint');
  const { cwd, run, calls } = await project(QUALITY + CALLS);
  const store = openFileStore(recorded.cwd);
  const [{ ref } = { ref: undefined }] = await store.runs(workflowOf('job.mld'));
  const facts: Fact[] = [];
  await store.scan(ref as RunRef, (event) => {
    const { v: _, seq: __, ts: ___, hash: ____, ...fact } = event;
    const { interceptors, ...older } = fact as Fact & { readonly interceptors?: true };
    if (fact.type === 'definition.recorded') expect(interceptors).toBe(true);
    facts.push(older as Fact);
  });
  const older = await openFileStore(cwd).create(ref as RunRef);
  for (const fact of facts) await older.append(fact);
  await older.close();
  const { status, stderr } = await run('--changed', 'ask');
  expect([status, withoutSummary(stderr)]).toEqual([0, '']);
  expect(await calls()).toEqual(['review reused', 'review reused', 'plain reused']);
});
