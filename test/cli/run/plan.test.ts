import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunPlan } from '../../../src/session/script/plan-script.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const script = ({ model = 'sonnet', list = '["a", "b", "c"]' } = {}): string => `
import { @frame } from "./lib.mld"
var @model = "${model}"
var @today = sh { echo computed >> effects.log; date }
exe llm @review(file) = js { return "R:" + file }
exe llm @judge(text) = \`@model judges @frame(@text) @today\`
var @reviews = for @file in ${list} => @review(@file)
checkpoint "reviewed"
show @judge(@reviews.join(","))
output "x" to "written.txt"
`;
const LIB = 'var @mark = "!"\nexe @frame(t) = `<@t>@mark`\nshow "never"\n';

async function project(): Promise<{
  cwd: string;
  mlld: (...argv: string[]) => ReturnType<typeof callCli>;
  write: (name: string, text: string) => void;
}> {
  const cwd = await projectFolder({ 'llm/run/job.mld': script(), 'llm/run/lib.mld': LIB });
  return {
    cwd,
    mlld: (...argv) => callCli(argv, { cwd }),
    write: (name, text) => fs.writeFileSync(path.join(cwd, name), text),
  };
}

async function planned(mlld: (...argv: string[]) => ReturnType<typeof callCli>, ...flags: string[]): Promise<RunPlan> {
  const { stdout, stderr, status } = await mlld('run', 'job', ...flags, '--plan', '--json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as RunPlan;
}

describe('mlld run NAME --plan', () => {
  it('counts results whose files were changed, and restores nothing', async () => {
    const { cwd, mlld, write } = await project();
    write(
      'llm/run/job.mld',
      'exe llm @draw(name) = sh { echo "$name" > $name.txt; echo done } with { writes: ["@root/@name\\.txt"] }\nfor @n in ["a", "b", "c"] => show @draw(@n)\n',
    );
    expect((await mlld('run', 'job', '--checkpoint')).stdout).toBe('done\ndone\ndone\n');
    expect(await planned(mlld)).toMatchObject({ usable: 3, again: 0 });
    write('a.txt', 'by hand');
    fs.rmSync(path.join(cwd, 'b.txt'));
    expect(await planned(mlld, '--checkpoint')).toMatchObject({
      again: 1,
      functions: [{ reasons: { outputs: 1 }, examples: [{ preview: 'a' }] }],
    });
    expect((await mlld('run', 'job', '--plan')).stdout).toContain('1 again (their files changed since; --keep-files keeps what is there)');
    expect(await planned(mlld, '--keep-files')).toMatchObject({ again: 0 });
    expect([fs.readFileSync(path.join(cwd, 'a.txt'), 'utf8'), fs.existsSync(path.join(cwd, 'b.txt'))]).toEqual(['by hand', false]);
  });

  it('names templates and data that were changed since, but not what the run wrote or what is as it was', async () => {
    const { cwd, mlld, write } = await project();
    write('llm/run/p.att', 'Say @x\n');
    write('llm/run/same.att', 'Stay @x\n');
    write('data.json', '["a"]');
    write('count.txt', '1');
    write(
      'llm/run/job.mld',
      [
        'exe @p(x) = template "./p.att"',
        'exe @same(x) = template "./same.att"',
        'exe llm @ask(q) = js { return "A:" + q }',
        'var @count = <@root/count.txt>',
        'for @x in <@root/data.json> => show @ask(@p(@x))',
        'show @ask(@same("x"))',
        'output "2" to "@root/count.txt"',
      ].join('\n'),
    );
    await mlld('run', 'job', '--checkpoint');
    expect(await planned(mlld)).toMatchObject({ usable: 2, again: 0, changedFiles: [] });
    expect((await mlld('run', 'job', '--plan')).stdout).toContain('\n0 of 2 calls will run again.\n');
    write('llm/run/p.att', 'Tell @x\n');
    fs.rmSync(path.join(cwd, 'data.json'));
    expect(await planned(mlld)).toMatchObject({ again: 0, changedFiles: ['data.json', 'llm/run/p.att'] });
    expect((await mlld('run', 'job', '--plan')).stdout).toContain(
      'None of 2 calls is certain to run again.\nChanged since the last run read it: data.json, llm/run/p.att. Calls with arguments from there are new',
    );
  });

  it('counts what then happens: nothing inside reused calls, nothing that is not called any more', async () => {
    const { cwd, mlld, write } = await project();
    const asks = 'exe llm @ask(q, model) = js { return q + model }\nexe llm @wrap(q) = @ask(@q, @model)\n';
    const wraps = (model: string): string =>
      `var @model = "${model}"\n${asks}show @ask("start", "x")\nfor @n in ["a", "b"] => show @wrap(@n)\n`;
    for (const model of ['m1', 'm2']) {
      write('llm/run/job.mld', wraps(model));
      await mlld('run', 'job', '--checkpoint');
    }
    for (const [target, again, usable, unresolved, told] of [
      ['@wrap', 2, 5, 0, '2 of 5 calls will run again; 2 further results are invalidated but this run does not need them'],
      ['@ask', 1, 3, 0, '1 of 3 calls will run again; 4 further results are invalidated but this run does not need them'],
      ['@wrap', 2, 3, 2, '2 of 3 calls will run again; 2 more have no result yet'],
    ] as const) {
      const estimate = { calls: again + unresolved };
      expect(await planned(mlld, '--resume', target)).toMatchObject({ again, usable, unresolved, estimate });
      const { stderr } = await mlld('run', 'job', '--resume', target);
      expect(stderr).toContain(`--resume ${target}: ${told}\n`);
      const { stdout } = await mlld('journal', 'explain', 'job', '--json');
      const { calls } = JSON.parse(stdout) as { calls: { miss?: unknown }[] };
      expect(calls.filter(({ miss }) => miss !== undefined && miss !== null)).toHaveLength(again + unresolved);
    }
    expect(fs.existsSync(path.join(cwd, 'written.txt'))).toBe(false);
  });

  it('takes the options of a checkpoint as the script has them now', async () => {
    const { mlld, write } = await project();
    const scoped = (options: string, name = '"weather"'): string =>
      `exe llm @ask(q) = js { return q }\nvar @n = "weather"\nshow @ask("a")\ncheckpoint ${name}${options}\nshow @ask("b")\n`;
    write('llm/run/job.mld', scoped(' with { ttl: 1d }'));
    await mlld('run', 'job', '--checkpoint');
    for (const [options, reasons] of [
      [' with { ttl: 1d }', {}],
      [' with { ttl: 0s }', { expired: 1 }],
      [' with { ttl: "0s" }', { expired: 1 }],
      [' with { resume: manual }', { manual: 1 }],
      [' with { resume: "never" }', { off: 1 }],
      [' with { ttl: 1w, complete: false }', { incomplete: 1 }],
      ['', {}],
    ] as const) {
      write('llm/run/job.mld', scoped(options));
      expect((await planned(mlld)).functions, options).toMatchObject([{ reasons }]);
      expect((await planned(mlld, '--resume')).functions, options).toMatchObject([{ reasons: {} }]);
    }
    write('llm/run/job.mld', scoped(' with { ttl: 0s }', "'weather'"));
    expect((await mlld('run', 'job', '--checkpoint')).status).toBe(0);
    expect(JSON.parse((await mlld('journal', 'explain', 'job', '--json')).stdout)).toMatchObject({
      calls: [{}, { miss: { why: 'expired' } }],
    });
  });

  it('runs nothing, writes nothing and records nothing', async () => {
    const { cwd, mlld } = await project();
    await mlld('run', 'job', '--checkpoint');
    const before = everything(cwd);
    for (const flags of [[], ['--resume', '@review'], ['--fresh'], ['--changed', 'ask'], ['--resume', 'reviewed']])
      await planned(mlld, ...flags);
    expect(everything(cwd)).toEqual(before);
  });

  it('promises nothing for a function that forwards what was edited, where the run makes another call', async () => {
    const wrapper = (model: string): string => `exe @poll(prompt, model) = \`@model: @prompt\`
exe llm @review(prompt) = @poll(@prompt, "${model}")
exe llm @plain(prompt) = \`@prompt!\`
show @review("a")
show @plain(@review("b"))
`;
    const { mlld, write } = await project();
    write('llm/run/job.mld', wrapper('sonnet'));
    await mlld('run', 'job', '--checkpoint');
    write('llm/run/job.mld', wrapper('opus'));
    expect(await planned(mlld)).toMatchObject({ usable: 3, again: 0, forwarded: 2, later: 1, estimate: { calls: 2 } });
    const { stdout } = await mlld('run', 'job', '--plan');
    expect(stdout).toContain('None of 3 calls is certain to run again. 2 run again where what their function forwards has changed. 1 more');
    expect(stdout).toContain('@review: 0 reused, 2 reused only if it forwards what it did\n  edited: its body was edited\n');
    expect((await mlld('run', 'job', '--checkpoint')).stdout).toBe('opus: a\nopus: b!\n');
    expect(await planned(mlld)).toMatchObject({ usable: 3, again: 0, unused: 3, forwarded: 0, estimate: { calls: 0 } });
    // A helper that was edited changes nothing in what is forwarded.
    write('llm/run/job.mld', wrapper('opus').replace('@model: @prompt', '@model, @prompt'));
    expect(await planned(mlld)).toMatchObject({ usable: 3, again: 0, unused: 3, forwarded: 0, estimate: { calls: 0 } });
  });

  it('counts the calls that would be executed again, and says why', async () => {
    const { mlld } = await project();
    await mlld('run', 'job', '--checkpoint');
    expect(await planned(mlld)).toMatchObject({ flags: { checkpoint: true }, usable: 4, again: 0, unresolved: 0, estimate: { calls: 0 } });
    expect(await planned(mlld, '--resume', '@review("b")')).toMatchObject({
      usable: 4,
      again: 2,
      estimate: { calls: 2 },
      functions: [
        { fn: 'review', usable: 3, again: 2, reasons: { invalidated: 2 }, examples: [{ preview: 'b' }, { preview: 'c' }] },
        { fn: 'judge', usable: 1, again: 0, later: 1 },
      ],
      later: 1,
    });
    expect(await planned(mlld, '--resume', 'reviewed')).toMatchObject({ usable: 4, again: 1, later: 0 });
    expect(await planned(mlld, '--fresh')).toMatchObject({
      usable: 4,
      again: 4,
      functions: [{ reasons: { reset: 3 } }, { reasons: { reset: 1 } }],
    });
    const { stdout } = await mlld('run', 'job', '--resume', '@review', '--plan');
    expect(stdout).toContain(
      'Plan for job (llm/run/job.mld) with --resume @review; nothing was run or recorded.\nAt least 3 of 4 calls will run again. 1 more comes after them and runs again if a result changes its arguments.\n',
    );
    expect(stdout).toContain('@judge: 1 reused (1 of them if their arguments are the same)\n');
    expect(stdout).toContain('@review: 0 reused, 3 again (--resume @review)\n  again: a\n  again: b\n  again: c\n');
  });

  it('agrees with what the run then says and does', async () => {
    const { mlld } = await project();
    await mlld('run', 'job', '--checkpoint');
    const { again } = await planned(mlld, '--resume', '@review:0("c")');
    const { stderr } = await mlld('run', 'job', '--resume', '@review:0("c")');
    expect(stderr).toContain(`${again} of 4 calls will run again`);
    const { stdout } = await mlld('journal', 'list', 'job', '--json');
    expect((JSON.parse(stdout) as { executed: number }[])[0]?.executed).toBe(again);
  });

  it('does not say that a limit of time will do where no time is known', async () => {
    const cwd = await projectFolder({
      'job.mld': 'exe llm @ask(q) = js { mlld.fail("content", "no") }\nvar @all = for parallel @q in ["a", "b"] => @ask(@q)\n',
    });
    expect((await callCli(['job.mld', '--checkpoint', '--allow-failures'], { cwd })).status).toBe(0);
    const { stdout } = await callCli(['job.mld', '--plan', '--budget', '1h'], { cwd });
    expect(stdout).toMatch(/: at least 2 calls, time unknown, cost unknown\n/);
    expect(stdout).toContain(
      'Budget 1h: not known if it will do, because nothing is known of the time of 2 calls; more calls may follow these.',
    );
  });

  it('names edits of the script, of its modules and of the values it captures, and what only the run can tell', async () => {
    const { mlld, write } = await project();
    await mlld('run', 'job', '--checkpoint');
    expect((await planned(mlld)).functions[1]).toMatchObject({ fn: 'judge', stale: 0, changes: [], unknown: ['today'] });
    write('llm/run/job.mld', script({ model: 'opus' }));
    write('llm/run/lib.mld', LIB.replace('"!"', '"?"'));
    const changes = [
      { kind: 'variable', name: 'model', was: 'sonnet', is: 'opus' },
      { kind: 'variable', name: 'mark', was: '!', is: '?' },
    ];
    const [, judge] = (await planned(mlld)).functions;
    expect(judge).toMatchObject({ usable: 1, again: 0, stale: 1 });
    expect(judge?.changes).toEqual(expect.arrayContaining(changes.map((change) => expect.objectContaining(change))));
    expect(await planned(mlld, '--changed', 'ask')).toMatchObject({
      again: 1,
      functions: [{ again: 0 }, { again: 1, reasons: { edited: 1 } }],
    });
    expect((await mlld('run', 'job', '--plan')).stdout).toContain('@model was sonnet, is opus');
  });

  it('says that nothing is recorded, and refuses what the run would refuse', async () => {
    const { mlld } = await project();
    expect((await mlld('run', 'job', '--plan')).stdout).toContain('Nothing is recorded for this script: every call will be executed.');
    await mlld('run', 'job', '--checkpoint');
    expect(await mlld('run', 'job', '--resume', '@nobody', '--plan')).toMatchObject({ status: 1, stdout: '' });
    expect((await mlld('-e', 'show 1', '--plan')).stderr).toContain('--plan does nothing for -e');
    expect((await mlld('llm/run/job.mld', '--plan')).stdout).toContain('0 of 4 calls will run again');
  });

  it('says how many runs it takes the calls from, and that more may follow where none has reached its end', async () => {
    const { mlld, write } = await project();
    for (const last of ['b', 'c']) {
      write(
        'llm/run/job.mld',
        `exe llm @ask(q) = sh { if [ "$q" != a ]; then exit 3; fi; echo "$q" }\nshow @ask("a")\nshow @ask("${last}")\nshow @ask("z")\n`,
      );
      await mlld('run', 'job', '--checkpoint');
    }
    expect(await planned(mlld)).toMatchObject({ unresolved: 2, comparedRuns: 2, isWhole: false });
    expect((await mlld('run', 'job', '--plan')).stdout).toMatch(
      /\nEstimate, if it makes the same calls as run \S+ and the run before it: at least 2 calls, .*\n {2}@ask: 2 calls, price unknown\n {2}no recorded run reached its end: calls that none has made yet are not counted\n/,
    );
    write('llm/run/job.mld', 'exe llm @ask(q) = sh { echo "$q" }\nshow @ask("a")\n');
    await mlld('run', 'job', '--checkpoint');
    expect(await planned(mlld)).toMatchObject({ comparedRuns: 1, isWhole: true });
  });

  it('counts what a fork reuses, and the calls of the last run without a result', async () => {
    const { mlld, write } = await project();
    await mlld('run', 'job', '--checkpoint');
    write('llm/run/other.mld', 'exe llm @review(file) = sh { exit 3 }\nshow @review("a")\nshow @review("z")\n');
    const forked = async () => JSON.parse((await mlld('run', 'other', '--fork', 'job', '--plan', '--json')).stdout) as RunPlan;
    expect(await forked()).toMatchObject({ usable: 4, again: 0, unresolved: 0 });
    const lines = (await mlld('run', 'other', '--fork', 'job', '--plan')).stdout;
    expect(lines).toContain(
      'None of 4 calls is certain to run again. This script has no recorded run: other calls that it makes will be executed',
    );
    await mlld('run', 'other', '--fork', 'job');
    expect(await forked()).toMatchObject({ usable: 1, unused: 3, unresolved: 1, estimate: { calls: 1 } });
    expect((await mlld('run', 'other', '--fork', 'job', '--plan')).stdout).not.toContain('This script has no recorded run');
  });

  it('leaves --json to the script when nothing is planned', async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show `json is @payload.json`\n' });
    expect((await callCli(['run', 'job', '--json', 'yes'], { cwd })).stdout).toBe('json is yes\n');
  });
});

/** Reads every file of the project. */
function everything(cwd: string): { readonly [name: string]: string } {
  const names = fs.readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter((name) => fs.statSync(path.join(cwd, name)).isFile());
  return Object.fromEntries(names.sort().map((name) => [name, fs.readFileSync(path.join(cwd, name), 'utf8')]));
}
