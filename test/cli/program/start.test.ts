import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { inShell, projectFolder, runCli } from '../../support/cli.js';

describe('mlld --version', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(await fs.readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(await runCli(['--version'], { cwd: await projectFolder() })).toEqual({ stdout: `${version}\n`, stderr: '', status: 0 });
  });

  it('says that its output went nowhere', async () => {
    const cwd = await projectFolder();
    const told = await inShell('"$@" --version > /dev/full', cwd);
    expect(told.status).toBe(1);
    expect(told.stderr).toMatch(/^Error: Standard output can't be written: ENOSPC.*\n$/);
  });
});

describe('a working directory that was removed', () => {
  it('is an error, not a fault of the program', async () => {
    const cwd = await projectFolder();
    const told = await inShell('mkdir gone && cd gone && rmdir ../gone && "$@" journal list', cwd);
    expect(told.status).toBe(1);
    expect(told.stderr).toMatch(/^Error: The working directory can't be used: .*\n {2}hint: cd to a folder that is there\n$/);
  });
});

describe('mlld --help', () => {
  it.each([
    [['--help'], ['mlld FILE', '--checkpoint', '--resume', '--fork', 'Examples:']],
    [
      ['run', '--help'],
      ['mlld run', '--no-warn', '--resume', 'Examples:'],
    ],
    [
      ['main.mld', '--help'],
      ['mlld FILE', 'Examples:'],
    ],
    [
      ['help', 'journal'],
      ['mlld journal', 'verify', 'Examples:'],
    ],
    [
      ['checkpoint', '--help'],
      ['mlld checkpoint', 'clean', 'Examples:'],
    ],
    [
      ['checkpoint', 'list', '--help'],
      ['--json', 'Examples:'],
    ],
    [
      ['journal', 'list', '--help'],
      ['--json', 'Examples:'],
    ],
    [
      ['journal', 'show', '--help'],
      ['--follow', 'Examples:'],
    ],
    [
      ['journal', 'verify', '--help'],
      ['--json', 'Examples:'],
    ],
  ])('%j has examples', async (argv, words) => {
    const { stdout, stderr, status } = await runCli(argv, { cwd: await projectFolder() });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    for (const word of words) expect(stdout).toContain(word);
  });
});

describe('usage errors', () => {
  it.each([
    [[], 'No script was given'],
    [['--checkpoint'], 'No script was given'],
    [['nofile.mld'], 'nofile.mld'],
    [['llm'], 'llm is a directory'],
    [['job.mld', 'extra'], 'extra'],
    [['job.mld', '-e', 'show 1'], 'job.mld'],
    [['job.mld', '--timeout', 'soon'], 'timeout'],
    [['job.mld', '--no-checkpoint', '--fresh'], '--no-checkpoint'],
    [['job.mld', '--fork'], '--fork'],
    [['job.mld', '--mlld-env', 'none.env'], 'none.env'],
    [['run', 'jbo'], 'job'],
    [['journal', 'shwo'], 'shwo'],
  ])('%j', async (argv, word) => {
    const cwd = await projectFolder({ 'job.mld': 'show "ran"\n', 'llm/run/job.mld': 'show "ran"\n' });
    const { stdout, stderr, status } = await runCli(argv, { cwd });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toContain(word);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('suggests the file that is nearly called so', async () => {
    const { stderr } = await runCli(['nightyl.mld'], { cwd: await projectFolder({ 'nightly.mld': '' }) });
    expect(stderr).toContain('did you mean nightly.mld?');
  });

  it('says where the configuration is broken', async () => {
    const cwd = await projectFolder({ 'mlld-config.json': '{\n  "scriptDir": }\n' });
    const { stderr, status } = await runCli(['run'], { cwd });
    expect(status).toBe(1);
    expect(stderr).toMatch(/mlld-config\.json:2:16\n/);
  });
});

it('lists the scripts of the project', async () => {
  const cwd = await projectFolder({ 'llm/run/hello.mld': '', 'llm/run/app/index.mld': '', 'llm/run/notes/readme.txt': '' });
  expect(await runCli(['run'], { cwd })).toEqual({
    stdout: 'Available scripts:\n\n  app\n  hello\n\nRun a script with: mlld run <script-name>\n',
    stderr: '',
    status: 0,
  });
});

describe('the compiled-code cache', () => {
  const listed = { stdout: 'No recorded runs.\n', stderr: '', status: 0 };
  const cacheFiles = async (cache: string) => fs.readdir(path.join(cache, 'mlld')).catch(() => []);

  it('is written once, privately, and used', async () => {
    const cwd = await projectFolder();
    const cache = path.join(cwd, 'cache');
    const env = { XDG_CACHE_HOME: cache };
    const written = async () =>
      Promise.all(
        (await cacheFiles(cache)).map(async (name) => {
          const { mtimeMs, ino, mode } = await fs.stat(path.join(cache, 'mlld', name));
          return { name, mtimeMs, ino, mode };
        }),
      );
    expect(await runCli(['journal', 'list'], { cwd, env })).toEqual(listed);
    const files = await written();
    expect(files.map(({ name }) => /-(\w+)-cjs-journal\.cache$/.exec(name)?.[1])).toEqual(['cli', 'commands']);
    for (const { mode } of files) expect(mode & 0o077).toBe(0);
    expect(await runCli(['journal', 'list'], { cwd, env })).toEqual(listed);
    expect(await written()).toEqual(files);
  });

  it('is used for a part that a long run asks for late', async () => {
    const cwd = await projectFolder({
      'late.mld':
        'exe @later() = js { await new Promise((r) => setTimeout(r, 1100)); return 1 }\nshow @later()\nvar @x = <notes/*.md>\nshow @x.length\n',
      'notes/a.md': 'a',
      'notes/b.md': 'b',
    });
    const env = { XDG_CACHE_HOME: path.join(cwd, 'cache') };
    const cache = path.join(cwd, 'cache', 'mlld');
    const run = async () => {
      expect(await runCli(['late.mld'], { cwd, env })).toEqual({ stdout: '1\n2\n', stderr: '', status: 0 });
      const part = (await cacheFiles(env.XDG_CACHE_HOME)).find((name) => name.includes('-packages-')) ?? '';
      return { part, modified: (await fs.stat(path.join(cache, part))).mtimeMs };
    };
    const first = await run();
    expect(first.part).toMatch(/-packages-cjs-run\.cache$/);
    expect(await run()).toEqual(first);
  });

  it.each([
    ['empty', () => Buffer.alloc(0)],
    ['of another build', (data: Buffer) => Buffer.concat([Buffer.from('mlld v0.0.0'.padEnd(128)), data.subarray(128)])],
    ['cut short', (data: Buffer) => data.subarray(0, data.length >> 1)],
    ['damaged', (data: Buffer) => Buffer.concat([data.subarray(0, 128), Buffer.alloc(data.length - 128, 7)])],
  ])('is replaced when it is %s', async (_, spoil) => {
    const cwd = await projectFolder();
    const env = { XDG_CACHE_HOME: path.join(cwd, 'cache') };
    await runCli(['journal', 'list'], { cwd, env });
    const files = (await cacheFiles(env.XDG_CACHE_HOME)).map((name) => path.join(env.XDG_CACHE_HOME, 'mlld', name));
    const whole = await Promise.all(files.map((file) => fs.readFile(file)));
    await Promise.all(files.map((file, i) => fs.writeFile(file, spoil(whole[i] as Buffer))));
    expect(await runCli(['journal', 'list'], { cwd, env })).toEqual(listed);
    for (const [i, { length }] of whole.entries())
      expect((await fs.readFile(files[i] as string)).length).toBeGreaterThan(length / 2 + 1000);
  });

  it.each([
    ['a file is in its way', { XDG_CACHE_HOME: '/dev/null' }],
    ['there is no home', { XDG_CACHE_HOME: '', HOME: '' }],
    ['its place is not absolute', { XDG_CACHE_HOME: 'cache', HOME: 'home' }],
  ])('is done without when %s', async (_, env) => {
    const cwd = await projectFolder();
    expect(await runCli(['journal', 'list'], { cwd, env })).toEqual(listed);
    expect(await fs.readdir(cwd)).toEqual(['mlld-config.json']);
  });

  it.each(['graph', 'answer', 'serve', 'journal', 'complete'])('of %s is not the one that runs of scripts load', async (command) => {
    const cwd = await projectFolder();
    const env = { XDG_CACHE_HOME: path.join(cwd, 'cache') };
    await runCli([command, '--help'], { cwd, env });
    const files = await cacheFiles(env.XDG_CACHE_HOME);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(file).toMatch(new RegExp(`-${command}\\.cache$`));
  });

  it.each([
    ['dot', 'digraph ferry { start [shape=Mdiamond]; exit [shape=Msquare]; start -> exit }'],
    ['js', `export const meta = { name: 'ferry', description: 'crosses' };\nreturn 1;\n`],
  ])('of a .%s file is not the one that runs of scripts load', async (extension, text) => {
    const cwd = await projectFolder({ [`ferry.${extension}`]: text });
    const env = { XDG_CACHE_HOME: path.join(cwd, 'cache') };
    const words = ['run', `ferry.${extension}`, '--backend', 'simulated'];
    expect(await runCli(words, { cwd, env })).toMatchObject({ status: 0 });
    const files = await cacheFiles(env.XDG_CACHE_HOME);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(file).toMatch(new RegExp(`-run-${extension}\\.cache$`));
  });

  it('is not written by a command that failed', async () => {
    const cwd = await projectFolder();
    const env = { XDG_CACHE_HOME: path.join(cwd, 'cache') };
    await runCli(['nofile.mld'], { cwd, env });
    expect(await cacheFiles(env.XDG_CACHE_HOME)).toEqual([]);
  });
});

describe('a run of a script over files', () => {
  it('reads one part of the program', async () => {
    const cwd = await projectFolder({
      'llm/run/ask.mld': 'exe llm @ask(p) = js { return "answer to " + p }\nshow @ask("one")\n',
      'llm/run/ask-more.mld': 'exe llm @ask(p) = js { return "answer to " + p }\nshow @ask("one")\nshow @ask("two")\n',
      'wrong.mld': 'show @nothing\n',
    });
    const alone = path.join(cwd, 'program');
    await fs.mkdir(alone);
    for (const file of ['mlld.cjs', 'cli.cjs'])
      await fs.copyFile(new URL(`../../../dist/${file}`, import.meta.url), path.join(alone, file));
    const mlld = async (words: string) => inShell(`"$1" program/mlld.cjs ${words}`, cwd);
    const one = { stdout: 'answer to one\n', status: 0 };
    expect(await mlld('llm/run/ask.mld')).toMatchObject(one);
    for (const flag of ['--checkpoint', '--checkpoint', '--resume', '--resume @ask', '--fresh'])
      expect(await mlld(`run ask ${flag}`), flag).toMatchObject(one);
    expect(await mlld('run ask-more --fork ask')).toMatchObject({ stdout: 'answer to one\nanswer to two\n', status: 0 });
    expect((await mlld('wrong.mld')).stderr).toContain('nothing');
    expect((await mlld('journal list')).stderr).toContain('commands.cjs');
  });

  it('goes on with its own parts where another program is put in its place', async () => {
    const cwd = await projectFolder({
      'long.mld': 'run sh { mv other.cjs program/packages.cjs && rm program/commands.cjs }\nvar @x = <notes/*.md>\nshow @x.length\n',
      'other.cjs': '(function () { throw new Error("of another version") })',
      'notes/a.md': 'a',
      'notes/b.md': 'b',
    });
    await fs.cp(new URL('../../../dist', import.meta.url), path.join(cwd, 'program'), { recursive: true });
    expect(await inShell('"$1" program/mlld.cjs long.mld', cwd)).toEqual({ stdout: '2\n', stderr: '', status: 0 });
  });

  it('loads little of Node where it reads no other file', async () => {
    const cwd = await projectFolder({
      'one.mld': 'show "hello"\n',
      'loaded.cjs': `process.on('exit', () => process.stderr.write(process.moduleLoadList.join('\\n')));`,
    });
    const loadedBy = async (command: string) => {
      const { stderr, status } = await inShell(`NODE_OPTIONS="-r ./loaded.cjs" ${command}`, cwd);
      expect(status).toBe(0);
      return stderr.split('\n');
    };
    const before = await loadedBy('"$1" -e 0');
    const loaded = (await loadedBy('"$@" one.mld')).filter((name) => !before.includes(name));
    expect(loaded).toContain('NativeModule v8');
    expect(loaded.join('\n')).not.toMatch(/ (internal\/fs\/promises|crypto|zlib|perf_hooks)$/m);
  });
});
