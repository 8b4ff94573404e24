/** A missing field or method in a condition that sorts values, and what stays an error. control.md 9.2, values.md 8.2. */
import { expect, it } from 'vitest';
import { runScript } from '../support/in-fake-world.js';

const RESULTS = 'var @rs = [{ ok: 1 }, { error: "bad" }, "text", 5, null, [1]]\n';

it.each([
  ['var @k = for @r in @rs => when [ @r.error => "E"; @r.ok => "O"; * => "?" ]\nshow `=@k`', '=["O","E","?","?","?","?"]\n'],
  ['var @k = for @r in @rs when @r.error => @r.error\nshow `=@k`', '=["bad"]\n'],
  ['var @k = for @r in @rs when !@r.error => 1\nshow @k.length', '5\n'],
  ['var @k = for @r in @rs when [ @r.includes("ex") => @r ]\nshow `=@k`', '=["text"]\n'],
  ['var @k = for @r in @rs when [ @r[0] == 1 => @r ]\nshow `=@k`', '=[[1]]\n'],
  ['exe @f(r) = when [ @r.error => "E"; * => "fine" ]\nshow @f("plain")', 'fine\n'],
  ['exe @f(r) = [ when @r.error => "E"\n=> "end" ]\nshow @f("plain")', 'end\n'],
  ['var @v = when @rs[2].kind [ null => "none"; * => "some" ]\nshow @v', undefined],
  ['var @f = @rs.name\nshow `=@f`', '=null\n'],
])('sorts by what values have: %s', async (script, expected) => {
  const { shown, error } = await runScript(RESULTS + script);
  expect(error === undefined ? shown : error.code).toEqual(expected ?? 'NO_FIELDS');
});

it.each([
  ['var @v = when [ @ghost() => 1; * => 2 ]', 'UNKNOWN_FUNCTION'],
  ['var @v = when [ @rs[2].frobnicate() => 1; * => 2 ]', 'UNKNOWN_METHOD'],
  ['exe @f(t) = [ => @t.error ]\nvar @v = when [ @f("text") => 1; * => 2 ]', 'NO_FIELDS'],
  ['var @v = when [ * => @rs[2].error ]', 'NO_FIELDS'],
  ['if @rs[2].error [ show "x" ]', 'NO_FIELDS'],
  ['when @rs[2].error => show "x"', 'NO_FIELDS'],
])('keeps errors that are no question about the value: %s', async (script, code) => {
  const { error } = await runScript(RESULTS + script);
  expect(error?.code).toBe(code);
});

it.each([
  ['exe @none() = ""\nexe @never(x) = `never @x`\nvar @v = @none() | @never\nshow `[@v]`', '[]\n'],
  ['exe @none() = ""\nexe @never(x) = `never @x`\nshow @none() | @never | @never', '\n'],
  ['exe @mark(x) = `marked @x`\nvar @e = ""\nvar @v = @e | @mark\nshow `[@v]`', '[marked ]\n'],
])('ends a pipeline at the empty result of its source, and not at an empty variable: %s', async (script, expected) => {
  const { shown, error } = await runScript(script);
  expect([shown, error]).toEqual([expected, undefined]);
});
