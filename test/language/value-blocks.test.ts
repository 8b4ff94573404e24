/** Blocks whose value is used, with stages and options behind them, and pipelines that are actions. values.md 3.4, control.md 8.2. */
import { expect, it } from 'vitest';
import { runScript } from '../support/in-fake-world.js';

const UP = 'exe @up(s) = `<<@s>>`\n';

it.each([
  ['var @v = [ let @a = "y"; => @a ] | @up\nshow @v', '<y>\n'],
  ['var @v = [\n  let @a = "y"\n  => @a\n]\n  | @up\n  | @up\nshow @v', '<<y>>\n'],
  ['var @v = [ let @a = "y"; => @a ] with { pipeline: [@up, show] }\nshow @v', '<y>\n<y>\n'],
  ['var @v = [ let @cfg = { on: false }; => "y" ] with { stream: @cfg.on, pipeline: [@up] }\nshow @v', '<y>\n'],
  ['exe @f(n) = when [ @n > 1 => [ let @a = "x@n"; => @a ] | @up\n* => [ let @a = "less"; => @a ] with { stream: false } ]\nshow `@f(2) @f(1)`', '<x2> less\n'],
  ['exe @f(n) = [ let @z = [ let @q = @n; => "q@q" ] | @up | show; => [ let @w = @z; => @w ] | @up ]\nshow @f(2)', '<q2>\n<<q2>>\n'],
  ['var @l = for @i in [1, 2] => [ let @a = "i@i"; => @a ] | @up\nshow `=@l`', '=["<i1>","<i2>"]\n'],
  ['when "x" [ "x" => [ let @a = "m"; => @a ] | @up ]', '<m>\n'],
])('sends the value of a block through the stages behind it: %s', async (script, expected) => {
  const { shown, error } = await runScript(`${UP}${script}`);
  expect([shown, error]).toEqual([expected, undefined]);
}); // prettier-ignore

it.each([
  ['for @i in [1, 2] => @up(@i) | show', '<1>\n<2>\n', ''],
  ['for @i in [1] => @i | @up', '<1>\n', ''],
  ['when true => @up(1) | show', '<1>\n', ''],
  ['when [ true => @up(1) with { pipeline: [show] } ]', '<1>\n', ''],
  ['when true => "text" | show', 'text\n', ''],
  ['when true => "text" | log', '', 'text\n'],
  ['for @i in [1] => @up(@i) | log', '', '<1>\n'],
  ['for @i in [1] => @up(@i) | append "f.txt"', '', ''],
  ['for @i in [1] => [ let @a = @i; => @a ] | @up | show', '<1>\n', ''],
])('shows once what an effect behind an action shows: %s', async (script, shown, logged) => {
  const result = await runScript(`${UP}${script}`);
  expect([result.shown, result.stderr, result.error]).toEqual([shown, logged, undefined]);
});

it.each([
  ['for @i in [1, 2] [\nlet @x = [ let @a = @i; if @a == 1 [ continue ]; => @a ]\nshow @x\n]', '2\n'],
  ['var @r = for @i in [1, 2] [\nlet @x = [ let @a = @i; if @a == 1 [ skip ]; => @a ]\n=> @x\n]\nshow `=@r`', '=[2]\n'],
  ['var @r = loop(3) [\nlet @x = [ let @a = 1; if true [ done "end" ]; => @a ]\ncontinue @x\n]\nshow @r', 'end\n'],
  ['exe @f(i) = [ => [ let @a = @i; if @a == 1 [ done "one" ]; => @a ] ]\nvar @r = 1 | while(3) @f\nshow @r', 'one\n'],
])('lets a control word leave a block that is bound: %s', async (script, expected) => {
  const { shown, error } = await runScript(script);
  expect([shown, error]).toEqual([expected, undefined]);
});

it.each([
  ['loop(2) [ let @x = [ let @a = 1; continue ] | @up ]', '`continue`'],
  ['loop(2) [ let @x = [ let @a = 1; done 2 ] with { stream: false } ]', '`done`'],
])('refuses a control word that would get lost: %s', async (script, word) => {
  const { error } = await runScript(`${UP}${script}`);
  expect(error?.message).toContain(word);
});
