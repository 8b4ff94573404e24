/** Files that a call wrote and its arguments name, from the script to the disk. calls.md 22. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, withoutSummary, type CliResult } from '../../support/cli.js';

/** Writes what it is told to the first file that its task names, as an agent does, and leaves a line in `calls.log`. */
const AGENT = String.raw`#!/bin/sh
task=$(cat)
echo "$task" >> calls.log
file=$(printf '%s' "$task" | grep -o '[a-z./0-9-]*\.txt' | head -1)
mkdir -p "$(dirname "$file")"
printf 'about: %s' "$task" > "$file"
chmod 755 "$file"
echo done
`;
const script = (options = ''): string => `exe llm @work(task) = @task | cmd { sh ./agent.sh }${options}\n`;
const SHOW = 'show @work("Describe the tide, and write it to `out/tide.txt`.")\n';

async function project(body: string, files: { readonly [name: string]: string } = {}) {
  const cwd = await projectFolder({ 'agent.sh': AGENT, 'job.mld': body, ...files });
  const log = path.join(cwd, 'calls.log');
  const mlld = async (...argv: string[]): Promise<CliResult> => {
    const result = await callCli(argv, { cwd });
    return { ...result, stderr: withoutSummary(result.stderr) };
  };
  return {
    cwd,
    mlld,
    run: (...flags: string[]): Promise<CliResult> => mlld('job.mld', '--checkpoint', ...flags),
    calls: (): number => (fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').length - 1 : 0),
    file: (name: string): string => path.join(cwd, name),
    read: (name: string): string => fs.readFileSync(path.join(cwd, name), 'utf8'),
    write: (name: string, text: string): void => fs.writeFileSync(path.join(cwd, name), text),
    remove: (name: string): void => fs.rmSync(path.join(cwd, name), { recursive: true }),
    completed: async (): Promise<{
      readonly files?: readonly { readonly path: string; readonly blob?: string; readonly reason?: string }[];
    }> => {
      const { stdout } = await mlld('journal', 'show', 'job@latest', '--type', 'call.completed', '--json');
      return JSON.parse(stdout.split('\n')[0] ?? '') as never;
    },
  };
}

const WRITTEN = 'about: Describe the tide, and write it to `out/tide.txt`.';

describe('a file that a call wrote and an argument names', () => {
  it('is restored with its mode when it is missing, and every report knows it', async () => {
    const { run, mlld, calls, read, write, file, remove } = await project(script() + SHOW);
    await run();
    remove('out');
    expect(await run()).toMatchObject({ status: 0, stdout: 'done\n', stderr: '' });
    expect([calls(), read('out/tide.txt'), fs.statSync(file('out/tide.txt')).mode & 0o777]).toEqual([1, WRITTEN, 0o755]);
    const audit = JSON.parse((await mlld('journal', 'audit', 'job', '--json')).stdout) as { entries: { outputs?: { path: string }[] }[] };
    expect(audit.entries.flatMap(({ outputs = [] }) => outputs.map(({ path: name }) => name))).toEqual(['out/tide.txt']);
    const { stdout } = await mlld('journal', 'audit', 'job', '--file', 'out/tide.txt');
    expect(stdout).toContain('the file is what it wrote');
    expect(stdout).toContain('@work');
    await run();
    expect((await mlld('journal', 'audit', 'job', '--file', 'out/tide.txt')).stdout).toContain('the file is what it wrote');
    write('out/tide.txt', 'mine');
    expect((await mlld('journal', 'audit', 'job', '--file', 'out/tide.txt')).stdout).toContain('the file is another by now');
    expect((await mlld('journal', 'verify', 'job@2')).status).toBe(0);
  });

  it('is found in the folder that its command runs in', async () => {
    const body = 'exe llm @work(dir, task) = @task | cmd:@root/@dir { sh ../agent.sh }\nshow @work("desk", "Write out/tide.txt")\n';
    const { run, calls, remove, read } = await project(body, { 'desk/notes.md': '' });
    await run();
    remove('desk/out');
    expect(await run()).toMatchObject({ status: 0, stdout: 'done\n', stderr: '' });
    expect([calls(), read('desk/out/tide.txt')]).toEqual([0, 'about: Write out/tide.txt']);
    expect(read('desk/calls.log').split('\n')).toHaveLength(2);
  });

  it('is left when it has other content, and the run says so once for each function', async () => {
    const loop = 'var @names = ["a", "b"]\nvar @all = for @n in @names => @work(`Write out/@n\\.txt`)\nshow @all.length\n';
    const { run, calls, read, write } = await project(script() + loop);
    await run();
    expect(calls()).toBe(2);
    write('out/a.txt', 'mine');
    write('out/b.txt', 'mine too');
    const { stdout, stderr } = await run();
    expect([stdout, calls(), read('out/a.txt')]).toEqual(['2\n', 2, 'mine']);
    expect(stderr).toBe(
      "@work: out/a.txt and 1 more have other content than it wrote, and are left as they are; --resume 'main/for#0[0]/work#0' executes the first of the calls again, --resume @work all calls of @work\n",
    );
    await run('--resume', 'main/for#0[0]/work#0');
    expect([calls(), read('out/a.txt'), read('out/b.txt')]).toEqual([3, 'about: Write out/a.txt', 'mine too']);
    write('out/a.txt', 'mine');
    await run('--resume', '@work');
    expect([calls(), read('out/a.txt')]).toEqual([5, 'about: Write out/a.txt']);
  });

  it('that was not kept has the call executed again when it is gone, and plan and explain say so', async () => {
    const { run, mlld, calls, completed, remove } = await project(script() + SHOW, {
      'mlld-config.json': '{ "calls": { "files": { "eachMiB": 0.00001 } } }',
    });
    await run();
    expect((await completed()).files).toMatchObject([{ path: 'out/tide.txt', reason: 'too-large' }]);
    expect((await run()).stderr).toBe('');
    remove('out');
    expect((await mlld('job.mld', '--plan')).stdout).toContain('1 again (file gone');
    expect((await run()).stderr).toContain(
      "out/tide.txt, which @work wrote, is gone, and its content was not kept or can't be read; the call is executed again",
    );
    expect(calls()).toBe(2);
    expect((await mlld('journal', 'explain', 'job')).stdout).toContain('file gone: out/tide.txt is missing');
    const { calls: explained } = JSON.parse((await mlld('journal', 'explain', 'job', '--json')).stdout) as { calls: { miss?: object }[] };
    expect(explained[0]?.miss).toMatchObject({ why: 'file gone', files: ['out/tide.txt'] });
  });

  it('that a call inside another one wrote is restored although the outer call was recorded, too', async () => {
    const outer = (task: string): string => `${script()}exe llm @ask(topic) = [
  let @task = \`Write about @topic to out/@topic\\.txt\`
  let @said = @work(@task)
  => \`@topic: @said\`
]
exe llm @both(topic) = [
  => @ask(@topic)
]
show @${task}("tide")
`;
    const { run, mlld, calls, read, write, remove } = await project(outer('both'));
    expect(await run()).toMatchObject({ status: 0, stdout: 'tide: done\n', stderr: '' });
    expect(await run()).toMatchObject({ status: 0, stdout: 'tide: done\n', stderr: '' });
    remove('out');
    expect((await mlld('job.mld', '--plan')).stdout).toContain('again (file gone');
    expect(await run()).toMatchObject({
      status: 0,
      stdout: 'tide: done\n',
      stderr: expect.stringContaining(
        'out/tide.txt, which a call inside @both wrote, is gone; @both is executed again, so that the call inside restores it',
      ) as string,
    });
    expect([calls(), read('out/tide.txt')]).toEqual([1, 'about: Write about tide to out/tide.txt']);
    write('out/tide.txt', 'mine');
    const { stderr } = await run();
    expect([calls(), read('out/tide.txt'), stderr]).toEqual([
      1,
      'mine',
      expect.stringContaining('out/tide.txt has other content') as string,
    ]);
  });

  it.each<[string, string, string]>([
    ['the option', ' with { files: "ignore" }', '{}'],
    ['the configuration', '', '{ "calls": { "files": false } }'],
  ])('is not kept where %s switches that off', async (_which, option, config) => {
    const { run, calls, completed, file, remove } = await project(script(option) + SHOW, { 'mlld-config.json': config });
    await run();
    expect(await completed()).not.toHaveProperty('files');
    remove('out');
    await run();
    expect([calls(), fs.existsSync(file('out'))]).toEqual([1, false]);
  });

  it('is kept by a function that says so, whatever the configuration says; a recorded one is left alone once it says the other', async () => {
    const off = { 'mlld-config.json': '{ "calls": { "files": false } }' };
    const { run, mlld, calls, file, write, remove } = await project(script(' with { files: "keep" }') + SHOW, off);
    await run();
    remove('out');
    await run();
    expect([calls(), fs.existsSync(file('out/tide.txt'))]).toEqual([1, true]);
    remove('out');
    write('job.mld', script(' with { files: "ignore" }') + SHOW);
    expect((await mlld('job.mld', '--plan')).stdout).toContain('0 of 1 call will run again');
    expect(await run()).toMatchObject({ stdout: 'done\n', stderr: '' });
    expect([calls(), fs.existsSync(file('out/tide.txt'))]).toEqual([1, false]);
    write('job.mld', script(' with { files: "maybe" }') + SHOW);
    expect((await run()).stderr).toContain('files takes "keep", "ignore"');
  });

  it('leaves no trace without a journal', async () => {
    const { mlld, file } = await project(script() + SHOW);
    await mlld('job.mld', '--no-checkpoint');
    expect([fs.existsSync(file('out/tide.txt')), fs.existsSync(file('.mlld'))]).toEqual([true, false]);
  });

  it('is stored nowhere when the call is secret', async () => {
    const secret = 'var secret @token = "swordfish-swordfish"\nshow @work(`Write out/tide.txt for @token`)\n';
    const { run, completed, cwd } = await project(script() + secret);
    await run();
    expect((await completed()).files).toMatchObject([{ path: 'out/tide.txt', reason: 'secret' }]);
    const stored = fs.readdirSync(path.join(cwd, '.mlld'), { recursive: true, encoding: 'utf8' });
    for (const name of stored.map((each) => path.join(cwd, '.mlld', each)).filter((each) => fs.statSync(each).isFile()))
      expect(fs.readFileSync(name).includes('about: Write'), name).toBe(false);
  });

  it('that is declared too follows the rules of declared outputs', async () => {
    const { run, calls, completed, write } = await project(script(' with { writes: "@root/out/tide\\.txt" }') + SHOW);
    await run();
    expect(await completed()).not.toHaveProperty('files');
    write('out/tide.txt', 'mine');
    await run();
    expect(calls()).toBe(2);
  });

  it('comes with a forked result, and in a bundle', async () => {
    const { run, mlld, calls, read, write, remove, file } = await project(script() + SHOW);
    await run();
    remove('out');
    write('other.mld', script() + SHOW);
    expect(await mlld('other.mld', '--fork', 'job')).toMatchObject({ status: 0, stdout: 'done\n', stderr: '' });
    expect([calls(), read('out/tide.txt')]).toEqual([1, WRITTEN]);
    await mlld('journal', 'bundle', 'job', '-o', 'job.bundle');
    const there = await project(script() + SHOW);
    fs.copyFileSync(file('job.bundle'), there.file('job.bundle'));
    expect((await there.mlld('journal', 'unbundle', 'job.bundle')).status).toBe(0);
    expect(await there.run()).toMatchObject({ status: 0, stdout: 'done\n', stderr: '' });
    expect([there.calls(), there.read('out/tide.txt')]).toEqual([0, WRITTEN]);
  });

  it('is restored when a run that failed later is resumed, and for the model stage of a pipeline', async () => {
    const failing = `${script() + SHOW}exe @harbour() = js { throw new Error("fog") }\nshow @harbour()\n`;
    const { run, mlld, calls, read, write, remove } = await project(failing, {
      'walk.dot':
        'digraph walk { start [shape=Mdiamond]\n exit [shape=Msquare]\n plan [prompt="Write the plan to out/plan.txt"]\n start -> plan -> exit }',
    });
    expect((await run()).status).toBe(1);
    remove('out');
    write('job.mld', script() + SHOW);
    expect(await mlld('job.mld', '--resume')).toMatchObject({ status: 0, stdout: 'done\n' });
    expect([calls(), read('out/tide.txt')]).toEqual([1, WRITTEN]);
    const walk = (): Promise<CliResult> => mlld('run', 'walk.dot', '--backend', 'cmd:sh ./agent.sh', '--checkpoint');
    expect((await walk()).status).toBe(0);
    const [written, begun] = [read('out/plan.txt'), calls()]; // a line for each line of its prompt
    remove('out');
    expect((await walk()).status).toBe(0);
    expect([calls(), read('out/plan.txt')]).toEqual([begun, written]);
  });

  it('survives gc, and is gone for good when it is redacted', async () => {
    const { run, mlld, calls, completed, read, remove, cwd } = await project(script() + SHOW);
    await run();
    await mlld('journal', 'gc');
    remove('out');
    await run();
    expect([calls(), read('out/tide.txt')]).toEqual([1, WRITTEN]);
    const blob = (await mlld('journal', 'show', 'job@2', '--type', 'call.completed', '--json')).stdout;
    const [, id = ''] = /"blob":"sha256:([0-9a-f]{64})"/.exec(blob) ?? [];
    const stored = (): boolean => fs.existsSync(path.join(cwd, '.mlld/journal/blobs', id.slice(0, 2), id));
    expect(stored()).toBe(true);
    expect((await mlld('journal', 'redact', 'job@2', '--match', 'about: [A-Z]', '--reason', 'private')).status).toBe(0);
    expect(stored()).toBe(false);
    remove('out');
    expect((await mlld('job.mld', '--plan')).stdout).toContain('1 again (file gone');
    expect((await run()).stderr).toContain('is gone, and its content was not kept');
    expect([calls(), (await completed()).files?.length]).toEqual([2, 1]);
    expect((await mlld('journal', 'verify', 'job@3')).status).toBe(0);
  });

  it('is not written by a replay, and the replayed run is the same', async () => {
    const { run, mlld, file, remove } = await project(script() + SHOW);
    await run();
    remove('out');
    await run();
    remove('out');
    for (const which of ['job', 'job@2']) {
      const { status, stdout, stderr } = await mlld('journal', 'replay', which);
      expect([status, stdout, fs.existsSync(file('out'))], stderr).toEqual([0, 'done\n', false]);
      expect(stderr).toContain('same: run');
    }
  });
});

describe('a file that several calls wrote', () => {
  it('ends as the last one had left it when the calls are reused, one after the other and in parallel', async () => {
    const steps = 'var @draft = @work("1. draft out/notes.txt")\nvar @final = @work("2. revise out/notes.txt")\nshow `@draft @final`\n';
    const { run, calls, read, remove } = await project(script() + steps);
    await run();
    remove('out');
    expect(await run()).toMatchObject({ stdout: 'done done\n', stderr: '' });
    expect([calls(), read('out/notes.txt')]).toEqual([2, 'about: 2. revise out/notes.txt']);
    expect((await run()).stderr).toBe('');
    const loop =
      'var @ids = [1, 2, 3, 4, 5, 6]\nvar @all = for parallel(3) @i in @ids => @work(`note @i for out/shared.txt`)\nshow @all.length\n';
    const parallel = await project(script() + loop);
    await parallel.run();
    const last = parallel.read('out/shared.txt');
    parallel.remove('out');
    expect(await parallel.run()).toMatchObject({ stdout: '6\n', stderr: '' });
    // Several calls may have ended while the file had the same content; whichever it is, a second run leaves it.
    const restored = parallel.read('out/shared.txt');
    expect(restored).toMatch(/^about: note \d for out\/shared\.txt$/);
    expect(last).toMatch(/^about: note/);
    expect((await parallel.run()).stderr).toBe('');
    expect([parallel.read('out/shared.txt'), parallel.calls()]).toEqual([restored, 6]);
  });
});
