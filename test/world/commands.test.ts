/** Commands: values in, output and status out. Conformance: control.md 5.3, 5.4, 5.7, 24.2. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../journal/event.js';
import { openWorld, temporaryFolder } from './support.js';

vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy
const PATIENCE = { timeout: 20_000 };

const { world, command, out } = openWorld();
afterAll(() => world.close('done'));

const big = 'x'.repeat(1_000_000);

describe('values in a shell', () => {
  it.each<[string, Json, string]>([
    ['text as it is', 'a\'b"c $HOME `x` \\n *', 'a\'b"c $HOME `x` \\n *'],
    ['line breaks at the end', 'a\n\n', 'a\n\n'],
    ['other scripts', 'ünï ☃ 🚢', 'ünï ☃ 🚢'],
    ['a number', 1.5, '1.5'],
    ['a boolean', true, 'true'],
    ['null as nothing', null, ''],
    ['an object as JSON', { a: [1, 'x y'] }, '{"a":[1,"x y"]}'],
    ['a list, one element a line', [1, 'two', { k: 3 }, [4]], '1\ntwo\n{"k":3}\n[4]'],
    ['a megabyte', big, big],
    ['a large text with line breaks at its end', `${big}\n\n`, `${big}\n\n`],
    ['a large text of other scripts', '☃'.repeat(100_000), '☃'.repeat(100_000)],
  ])('%s', async (_, value, text) => {
    for (const language of ['sh', 'bash'] as const) {
      const answer = await command(language, 'printf "%s" "$v"', { variables: { v: value } });
      expect(answer).toMatchObject({ stdout: text, stderr: '', exitCode: 0 });
    }
  });

  it('passes many values that are too large together', async () => {
    const variables = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`v${i}`, String(i % 10).repeat(100_000)]));
    const code = Object.keys(variables)
      .map((name) => `echo "\${#${name}} \${${name}:0:1}"`)
      .join('\n');
    const { stdout } = await command('sh', code, { variables });
    expect(stdout).toBe(Array.from({ length: 40 }, (_, i) => `100000 ${i % 10}\n`).join(''));
  });

  it('runs code that is too large for an argument, with large values', async () => {
    const code = `# ${'c'.repeat(300_000)}\nprintf "%s %s" "\${#v}" "$small"`;
    expect((await command('sh', code, { variables: { v: big, small: 's' } })).stdout).toBe('1000000 s');
    expect((await command('cmd', `printf %s "${big}" | wc -c | tr -d ' '`)).stdout).toBe('1000000\n');
  });

  it('lets programs started by the code read values as environment variables', async () => {
    expect((await command('sh', 'env | grep ^v=', { variables: { v: 'seen' } })).stdout).toBe('v=seen\n');
    expect((await command('sh', 'true; env true && echo ok', { variables: { v: big } })).stdout).toBe('ok\n');
  });

  it('names a value that no shell variable can hold', async () => {
    await expect(command('sh', 'true', { variables: { v: 'a\0b' } })).rejects.toMatchObject({
      code: 'NUL_CHARACTER',
      message: expect.stringContaining('v') as string,
    });
  });
});

describe('the words of a program', () => {
  const run = (words: readonly string[], more: object = {}) => command('cmd', 'is for people', { words, ...more });

  it('reach it as they are, and no shell reads them', async () => {
    const words = ['$HOME', "it's", '; echo x', '`id`', 'a  b', '', '*', '-n'];
    const { stdout } = await run(['printf', '[%s]\\n', ...words], { variables: { v: big } });
    expect(stdout).toBe(words.map((word) => `[${word}]\n`).join(''));
  });

  it('run in the place of the code, with input and variables', async () => {
    expect(await run(['sh', '-c', 'cat; printf %s "$v"; exit 3'], { stdin: 'in ', variables: { v: 'seen' } })).toMatchObject({
      stdout: 'in seen',
      exitCode: 3,
    });
  });

  it('that name no program end with 127, and a NUL is refused', async () => {
    expect((await run(['no-such-program', 'x'])).exitCode).toBe(127);
    await expect(run(['printf', 'a\0b'])).rejects.toMatchObject({ code: 'NUL_CHARACTER' });
  });
});

describe('values in Python', () => {
  it.each<[string, Json, string]>([
    ['text', 'ünï ☃', 'str ünï ☃'],
    ['int', 7, 'int 7'],
    ['float', 1.5, 'float 1.5'],
    ['bool', true, 'bool True'],
    ['None', null, 'NoneType None'],
    ['list', [1, 'a', null], "list [1, 'a', None]"],
    ['dict', { a: { b: [1] } }, "dict {'a': {'b': [1]}}"],
  ])('%s', async (_, v, text) => {
    expect((await command('py', 'print(type(v).__name__, v)', { variables: { v } })).stdout).toBe(`${text}\n`);
  });

  it('takes a megabyte, and its standard input as well', async () => {
    const code = 'import sys\nprint(len(v), sys.stdin.read())';
    expect((await command('py', code, { variables: { v: big }, stdin: 'fed ☃' })).stdout).toBe('1000000 fed ☃\n');
  });

  it('reports exceptions with the line of the body, and a status', async () => {
    const answer = await command('py', 'print("before")\nraise ValueError("no tide")');
    expect(answer).toMatchObject({ stdout: 'before\n', exitCode: 1 });
    expect(answer.stderr).toContain('line 2');
    expect(answer.stderr).toContain('ValueError: no tide');
    expect(answer.stderr).not.toContain('start()');
  });

  it('takes a top-level return as the error it is in Python', async () => {
    const answer = await command('py', 'return 1');
    expect(answer.exitCode).toBe(1);
    expect(answer.stderr).toContain('SyntaxError');
  });

  it('keeps the status of sys.exit, and accepts a body that is indented as a whole', async () => {
    expect(await command('py', '\n  import sys\n  print("in")\n  sys.exit(4)\n')).toMatchObject({ stdout: 'in\n', exitCode: 4 });
  });

  it('calls shadow functions, which print and give None, and know each other', async () => {
    const shadow = [
      { name: 'sq', params: ['x'], code: 'print(int(x) ** 2)' },
      { name: 'both', params: ['a', 'b'], code: 'sq(a)\nsq(b)' },
    ];
    expect((await command('py', 'print(both(2, b=3))', { shadow })).stdout).toBe('4\n9\nNone\n');
    expect((await command('py', 'print(sq)', { shadow, variables: { sq: 'hides' } })).stdout).toBe('hides\n');
  });
});

describe('a process', () => {
  it('returns output, error output and status apart', async () => {
    const answer = await command('cmd', 'echo out; echo err >&2; exit 7');
    expect(answer).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 7 });
    expect(Number.isInteger(answer.durationMs)).toBe(true);
  });

  it.each([
    ['TERM', 143],
    ['KILL', 137],
    ['SEGV', 139],
  ])('ended by SIG%s has the status %i', async (signal, status) => {
    expect((await command('sh', `kill -${signal} $$`)).exitCode).toBe(status);
  });

  it('has an empty standard input unless one is given', async () => {
    expect((await command('cmd', 'cat; echo end')).stdout).toBe('end\n');
    expect((await command('cmd', 'cat', { stdin: 'a\n☃' })).stdout).toBe('a\n☃');
  });

  it('takes 10 MB over standard input, and need not read it', async () => {
    const text = 'line of text\n'.repeat(800_000);
    expect((await command('cmd', "wc -c | tr -d ' '", { stdin: text })).stdout).toBe(`${text.length}\n`);
    expect(await command('cmd', 'exec 0<&-; echo unread', { stdin: text })).toMatchObject({ stdout: 'unread\n', exitCode: 0 });
  });

  it('shows its output on standard error while it runs, only when requested', async () => {
    const shown = openWorld();
    const running = shown.command('sh', 'printf "\\342\\230"; sleep 0.2; printf "\\203 first\\n"; sleep 30', { stream: true });
    running.catch(() => undefined);
    await expect.poll(() => shown.out.stderr, PATIENCE).toBe('☃ first\n');
    await shown.world.close('seen');
    await command('sh', 'echo quiet');
    expect(out).toEqual({ stdout: '', stderr: '' });
  });

  it('streams Python line by line', async () => {
    const shown = openWorld();
    const running = shown.command('py', 'import time\nprint("first")\ntime.sleep(30)', { stream: true });
    running.catch(() => undefined);
    await expect.poll(() => shown.out.stderr, PATIENCE).toBe('first\n');
    await shown.world.close('seen');
  });

  it('runs in its directory; one that does not exist is named as the working directory', async () => {
    const directory = await temporaryFolder();
    await mkdir(join(directory, 'a b'));
    expect((await command('sh', 'pwd', { directory: join(directory, 'a b') })).stdout).toBe(`${directory}/a b\n`);
    await writeFile(join(directory, 'file'), '');
    for (const wrong of ['none', 'file']) {
      const failure = { code: 'WORKING_DIRECTORY', message: expect.stringContaining(`working directory ${directory}/${wrong}`) as string };
      await expect(command('cmd', 'pwd', { directory: join(directory, wrong) })).rejects.toMatchObject(failure);
      await expect(
        world.perform('code.run', { language: 'js', code: '1', variables: {}, unset: [], echo: false, directory: join(directory, wrong) }),
      ).rejects.toMatchObject(failure);
    }
  });

  it('whose program is missing is named', async () => {
    const poor = openWorld({ environment: { PATH: '/nowhere' } });
    await expect(poor.command('py', 'print(1)')).rejects.toMatchObject({
      code: 'PROGRAM_MISSING',
      message: expect.stringContaining('python3') as string,
    });
    await expect(poor.command('sh', 'true')).rejects.toThrow('bash');
  });

  it('sees the environment of the world, with what was set since', async () => {
    const own = openWorld({ environment: { PATH: process.env['PATH'], HOLD: 'old', NONE: undefined } });
    await own.world.perform('env.set', { name: 'HOLD', value: 'aft' });
    expect((await own.command('cmd', 'echo "$HOLD ${NONE-unset} ${HOME-unset}"')).stdout).toBe('aft unset unset\n');
    expect(process.env['HOLD']).toBeUndefined();
  });

  it('is one of fifty at a time, each with its own result', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => command('sh', 'cat; echo "$n"; exit $n', { variables: { n: i }, stdin: `in ${i}\n` })),
    );
    expect(answers.map(({ stdout, exitCode }) => ({ stdout, exitCode }))).toEqual(
      Array.from({ length: 50 }, (_, i) => ({ stdout: `in ${i}\n${i}\n`, exitCode: i })),
    );
  });
});
