import fs from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { callKey } from '../../../src/runtime/calls/call-key.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

/** A script whose result follows from X, before and after a change of X alone. The code has the same text in both. */
const DIFFERENCES: readonly (readonly [x: string, before: string, after: string])[] = [
  ['a parameter of sh', ...inFunction('var llm @x = sh { echo "A:$q" }', '"one"', '"two"')],
  ['a parameter that bash reads indirectly', ...inFunction('var llm @x = bash { n=q; echo "A:${!n}" }', '"one"', '"two"')],
  ['a parameter of js', ...inFunction('var llm @x = js { return [q] }', '{ a: 1 }', '{ a: 2 }')],
  ['the type of a parameter of js', ...inFunction('var llm @x = js { return typeof q }', '5', '"5"')],
  ['a parameter of node', ...inFunction('var llm @x = node { return q + 1 }', '1', '2')],
  ['a parameter of py', ...inFunction('var llm @x = py { print(q) }', '"one"', '"two"')],
  ['a missing parameter', ...inFunction('var llm @x = js { return typeof q }', '', 'null')],
  ['a listed local variable', ...inFunction('let @l = `l@q`\n  var llm @x = run sh (@l) { echo "$l" }', '"one"', '"two"')],
  ['a variable listed by cmd', ...inFunction('let @l = `l@q`\n  var llm @x = run cmd (@l) { echo "$l" }', '"one"', '"two"')],
  ['the standard input of sh', ...inFunction('var llm @x = sh { cat } with { stdin: @q }', '"one"', '"two"')],
  ['the standard input of cmd', ...inFunction('var llm @x = cmd { cat } with { stdin: @q }', '"one"', '"two"')],
  ['the standard input of run', ...inFunction('var llm @x = run @q | { cat }', '["a b"]', '["a", "b"]')],
  ['the working directory', ...inFunction('var llm @x = run sh:@q { pwd }', '"/"', '"/tmp"')],
  ['the working directory of js', ...inFunction('let @l = 1\n  var llm @x = run node (@l):@q { return process.cwd() }', '"/"', '"/tmp"')],
  [
    'a listed variable of the module',
    'var @v = "one"\nvar llm @x = run sh (@v) { echo "$v" }\nshow @x',
    'var @v = "two"\nvar llm @x = run sh (@v) { echo "$v" }\nshow @x',
  ],
  [
    'a part of a loaded file',
    'var llm @x = cmd { cat } with { stdin: <a.txt> }\nshow @x',
    'var llm @x = cmd { cat } with { stdin: <b.txt> }\nshow @x',
  ],
];

function inFunction(statement: string, before: string, after: string): [string, string] {
  const script = (argument: string): string => `exe @f(q) = [\n  ${statement}\n  => @x\n]\nshow @f(${argument})\n`;
  return [script(before), script(after)];
}

describe('the call key of code under `var llm`', () => {
  let cwd: string;
  const run = async (script: string, ...flags: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> => {
    await fs.writeFile(path.join(cwd, 'job.mld'), script);
    return callCli(['job.mld', ...flags], { cwd });
  };

  beforeEach(async () => {
    cwd = await projectFolder({ 'a.txt': 'first', 'b.txt': 'second' });
  });

  it.each(DIFFERENCES)('has %s in it', async (_, before, after) => {
    const first = await run(before, '--checkpoint');
    expect((await run(before, '--checkpoint')).stderr).toContain('1 reused');
    const fresh = await run(after);
    expect(fresh.stdout).not.toBe(first.stdout);
    expect((await run(after, '--checkpoint')).stdout).toBe(fresh.stdout);
    expect(await run(before, '--checkpoint')).toMatchObject({
      stdout: first.stdout,
      stderr: expect.stringContaining('1 reused') as string,
    });
  });

  it('tells two calls of a function apart in one run', async () => {
    const script = 'exe @f(q) = [\n  var llm @x = sh { echo "A:$q" }\n  => @x\n]\nshow @f("one")\nshow @f("two")\n';
    expect((await run(script, '--checkpoint')).stdout).toBe('A:one\nA:two\n');
    expect(await run(script, '--checkpoint')).toMatchObject({
      stdout: 'A:one\nA:two\n',
      stderr: expect.stringContaining('2 reused') as string,
    });
  });

  it('has the members of `mx` that the code mentions, and no others', async () => {
    const script = (list: string): string =>
      `exe @f() = [\n  var llm @x = js { return mx.for.index + 1 + (mx.cost ?? 0) * 0 }\n  => @x\n]\nvar @r = for @i in ${list} => @f()\nshow @r.join(" ")\n`;
    expect((await run(script('["a", "b"]'), '--checkpoint')).stdout).toBe('1 2\n');
    const more = await run(script('["a", "b", "c"]'), '--checkpoint');
    expect([more.stdout, more.stderr]).toEqual(['1 2 3\n', expect.stringContaining('2 reused, 1 executed')]);
  });

  it.each([
    ['its text alone', 'var llm @x = sh { echo A }\n', [' echo A ']],
    [
      'what a parameter is',
      'exe @f(q) = [\n  var llm @x = sh { echo A }\n  => @x\n]\nrun @f("one")\n',
      [' echo A ', { variables: { q: 'one' } }],
    ],
    ['its folder as the project has it', 'var llm @x = run sh:@root/docs { echo A }\n', [' echo A ', { directory: 'docs' }]],
  ])('is made of %s', async (_, script, args) => {
    await fs.mkdir(path.join(cwd, 'docs'));
    await run(script, '--checkpoint');
    const { stdout } = await callCli(['checkpoint', 'inspect', 'job'], { cwd });
    expect((JSON.parse(stdout) as { entries: readonly { key: string }[] }).entries).toMatchObject([{ key: callKey({ fn: 'sh', args }) }]);
  });

  it('lets `--resume` select by the text', async () => {
    const script = 'exe @f(q) = [\n  var llm @x = sh { echo "A:$q" }\n  => @x\n]\nshow @f("one")\n';
    await run(script, '--checkpoint');
    expect((await run(script, '--resume', '@sh(" echo")')).stderr).toContain('1 executed');
  });

  it('has a secret parameter as a digest, and the result is secret where it is reused', async () => {
    const script =
      'var secret @key = js { return "hunter" + 22 }\nexe @f(q) = [\n  var llm @x = sh { echo "${#q}" }\n  => @x\n]\nvar @r = @f(@key)\nshow @r.mx.labels\n';
    for (const counted of ['1 executed', '1 reused']) {
      const { stdout, stderr } = await run(script, '--checkpoint');
      expect([stdout, stderr]).toEqual([expect.stringContaining('secret'), expect.stringContaining(counted)]);
    }
    const files = await fs.readdir(path.join(cwd, '.mlld'), { recursive: true, withFileTypes: true });
    const texts = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => fs.readFile(path.join(file.parentPath, file.name), 'latin1')),
    );
    expect(texts.join('')).not.toContain('hunter22');
  });

  it('has the standard input that was evaluated once, also where the result is reused', async () => {
    const script = 'exe @ask() = sh { echo asked >> calls.log; echo deep }\nvar llm @x = cmd { cat } with { stdin: @ask() }\nshow @x\n';
    expect((await run(script, '--checkpoint')).stdout).toBe('deep\n');
    expect((await run(script, '--checkpoint')).stdout).toBe('deep\n');
    expect(await fs.readFile(path.join(cwd, 'calls.log'), 'utf8')).toBe('asked\nasked\n');
  });

  it('is that of the values before the guards, which the code then gets', async () => {
    const script =
      'guard @g before pii = when [ * => allow "masked" ]\nvar pii @v = "Ann"\nexe @f(q) = [\n  var llm @x = sh { echo "$q" >> calls.log; echo done }\n  => @x\n]\nvar @r = @f(@v)\n';
    await run(script, '--checkpoint');
    expect((await run(script, '--checkpoint')).stderr).toContain('1 reused');
    expect(await fs.readFile(path.join(cwd, 'calls.log'), 'utf8')).toBe('masked\n');
  });
});

describe('a guard that replaces values', () => {
  const RIGHT = ['js (@v) { return v }', 'sh (@v) { echo "$v" }', 'sh { cat } with { stdin: @v }'];

  it.each(RIGHT.flatMap((right) => ['before', 'after', 'always'].map((timing) => [timing, right] as const)))(
    '%s replaces those of code under `var llm` as often as those of other code: run %s',
    async (timing, right) => {
      const script = (label: string): string =>
        `guard @g ${timing} pii = when [ * => allow \`[@output]\` ]\nvar pii @v = "Ann"\nvar ${label} @x = run ${right}\nshow @x\n`;
      const cwd = await projectFolder({ 'plain.mld': script(''), 'llm.mld': script('llm') });
      const plain = await callCli(['plain.mld'], { cwd });
      expect(plain.stdout).toContain('[Ann]');
      expect((await callCli(['llm.mld'], { cwd })).stdout).toBe(plain.stdout);
    },
  );
});

describe('the call key of a function that gets functions', () => {
  const functions = 'exe @up(x) = `up @x`\nexe @down(x) = `down @x`\n';
  const direct = `${functions}exe llm @apply(f, x) = [\n  => @f(@x)\n]\n`;
  const member = `${functions}exe llm @apply(o, x) = [\n  let @f = @o.go\n  => @f(@x)\n]\n`;

  it.each([
    ['as arguments', direct, '@up', '@down'],
    ['in an object', member, '{ go: @up }', '{ go: @down }'],
  ])('tells them apart %s', async (_, script, first, second) => {
    const cwd = await projectFolder({ 'job.mld': `${script}show @apply(${first}, 1)\nshow @apply(${second}, 1)\n` });
    for (const counted of ['2 executed', '2 reused']) {
      const { stdout, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
      expect([stdout, stderr]).toEqual(['up 1\ndown 1\n', expect.stringContaining(counted)]);
    }
  });
});

it.each([
  '@ask("a") | @loud',
  '@ask("a") | @loud with { parallel: 2 }',
  '@ask("a") with { pipeline: [@loud] }',
  'stream @ask("a") | @loud with { delay: 1ms }',
])('`var llm @x = %s` makes the call at its head one that is recorded', async (right) => {
  const cwd = await projectFolder({
    'job.mld': `exe @ask(x) = js { return "saw " + x }\nexe @loud(x) = \`@x!\`\nvar llm @x = ${right}\nshow @x\n`,
  });
  for (const counted of ['1 executed', '1 reused']) {
    const { stdout, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
    expect([stdout, stderr]).toEqual(['saw a!\n', expect.stringContaining(counted)]);
  }
});
