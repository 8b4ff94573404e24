/** Statements that are pipelines or bare commands, `=> skip`, and streamed groups. control.md 2.2, 8.2, 16, 19.1 and 23. */
import { expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { runScript } from '../support/in-fake-world.js';

const block = (...lines: string[]) => `exe @up(s) = \`<<@s>>\`\nif true [\n${lines.join('\n')}\n]`;

it.each([
  [block('let @v = "a"', '@v | append "f.txt"', '@v | @up | append "f.txt"', 'show <f.txt>'), 'a\n<a>\n'],
  [block('let @v = { n: "b" }', '@v.n | output to "f.txt"', '@v.n | show', '@v.n | @up | show', 'show <f.txt>'), 'b\n<b>\nb\n'],
  [block('let @v = "c"', '@v with { pipeline: [@up, show] }'), '<c>\n'],
  ['var @v = "d"\nfor @i in [1, 2] [ @v | append "f.txt" ]\nshow <f.txt>', 'd\nd\n'],
  ['exe @up(s) = `<<@s>>`\nvar @v = "e"\n@v | @up', '<e>\n'],
  ['var @v = "f"\n@v | show', 'f\n'],
  ['exe @f() = [\nlet @a = for @i in [1] => !true\n@a += 2\n=> @a\n]\nvar @r = @f()\nshow `=@r`', '=[false,2]\n'],
  ['var @v = "g"\nwhen true => [ @v | show ]\nfor @i in [1, 2] => [\n@i | show\n]', 'g\n1\n2\n'],
  ['exe @f() = [\nlet @r = for @i in [1] => "x"\n=> || @g() || @g()\n]\nexe @g() = "g"\nvar @r = @f()\nshow `=@r`', '=["g","g"]\n'],
  ['exe @up(s) = `<<@s>>`\nvar @r = for @i in ["g"] [ @i | @up ]\nshow `=@r`', '=["<g>"]\n'],
])('runs a pipeline that is a statement: %s', async (script, expected) => {
  const { shown, error } = await runScript(script);
  expect([shown, error]).toEqual([expected, undefined]);
});

it.each([
  ['if @i == 2 [ => skip ]\n=> @i', '=[1,3]'],
  ['when @i == 2 => [ => skip ]\n=> @i', '=[1,3]'],
  ['if @i > 1 [ if @i < 3 [ => skip ] ]\n=> @i', '=[1,3]'],
  ['if @i == 2 [ => skip ] else [ => @i ]', '=[1,3]'],
])('leaves an element out by `=> skip`: %s', async (body, expected) => {
  const { shown, error } = await runScript(`var @r = for @i in [1, 2, 3] [\n${body}\n]\nshow \`=@r\``);
  expect([shown, error]).toEqual([`${expected}\n`, undefined]);
});

it('goes on with the next element of a statement, and of a parallel loop, by `=> skip`', async () => {
  const { shown } = await runScript(
    'for @i in [1, 2, 3] [\nif @i == 2 [ => skip ]\nshow @i\n]\nvar @r = for parallel @i in [1, 2, 3] [\nif @i == 2 [ => skip ]\n=> @i\n]\nshow `=@r`',
  );
  expect(shown).toBe('1\n3\n=[1,3]\n');
});

it('refuses `=> skip` outside of a `for`, and before another statement', async () => {
  const { error } = await runScript('exe @f() = [ => skip ]\nshow @f()');
  expect(error).toMatchObject({ code: 'SKIP', location: { line: 1 } });
  const early = 'for @i in [1] [\n=> skip\nshow "x"\n]';
  expect(() => parseScript(early, { mode: 'strict' })).toThrow(/must be the last statement/);
  expect(() => parseScript('loop(2) [ => skip ]', { mode: 'strict' })).toThrow(/no return/);
});

const calls = 'exe @a() = "A"\nexe @b() = [ log "b"\n=> "B" ]\n';

it.each([
  ['var @v = stream @a() || stream @b()\nshow `=@v`', '=["A","B"]\n'],
  ['exe @f() = stream @a() || stream @b()\nvar @v = @f()\nshow `=@v`', '=["A","B"]\n'],
  ['exe @f() = [ => stream @a() || stream @b() ]\nvar @v = @f()\nshow `=@v`', '=["A","B"]\n'],
  ['stream @a() || stream @b()', '["A","B"]\n'],
  ['run stream @a() || stream @b()', '["A","B"]\n'],
  ['var @v = when [ * => stream @a() || stream @b() ]\nshow `=@v`', '=["A","B"]\n'],
])('runs all calls of a streamed group: %s', async (script, expected) => {
  const { shown, stderr, error } = await runScript(calls + script);
  expect([shown, stderr, error]).toEqual([expected, 'b\n', undefined]);
});

it.each(['cmd { touch x }', 'sh { touch x }', 'sh(@a):/tmp { touch x }', 'js { return 1 }', 'cmd { cat } with { stdin: @a }'])(
  'reads a command without a word before it in a block, and not at the top level: %s',
  (code) => {
    const [exe] = parseScript(`exe @f() = [\n${code}\nshow "x"\n]`, { mode: 'strict' }).statements;
    expect(exe).toMatchObject({ body: { statements: [{ kind: 'run', isBare: true }, { kind: 'show' }] } });
    expect(parseScript(`when true => [ ${code} ]`, { mode: 'strict' })).toMatchObject({
      statements: [{ entries: [{ action: code.includes('with') ? { kind: 'array' } : { kind: 'block' } }] }],
    });
    expect(() => parseScript(code, { mode: 'strict' })).toThrow(/not a statement/);
  },
);

it.each([
  ['exe @f() = [ let @x = 1 ] with { stream: false }', '[]'],
  ['exe @f() = [ let @o = { s: false }\n=> "v" ] with { stream: @o.s }', '[v]'],
  ['exe @g() = "g"\nexe @f() = @g with { stream: false }', '[g]'],
])('gives a function with options the value of its body: %s', async (script, expected) => {
  const { shown, error } = await runScript(`${script}\nvar @v = @f()\nshow \`[@v]\``);
  expect([shown, error]).toEqual([`${expected}\n`, undefined]);
});

it.each([
  ['show @later(1)\nexe llm @later(x) = `l @x`', 'line 2: move its `exe` up'],
  ['var @a = "x" | @later\n\n  exe @later(x) = `l @x`', 'line 3: move its `exe` up'],
  ['exe @id(x) = `@x`\nshow @id(@late)\nvar secret, pii @late = 1', 'line 3: move its `var` up'],
  ['var @lat = 1\nshow @late\nvar @b = "exe @late"', 'did you mean @lat?'],
])('says where a name is declared that is used too early: %s', async (script, hint) => {
  const { error } = await runScript(script);
  expect(error?.hint).toContain(hint);
});
