import { expect, it } from 'vitest';
import type { Exe } from '../../grammar/ast.js';
import { parseScript } from '../../grammar/parse.js';
import { createModule } from '../../src/language/source-module.js';
import { Executable } from '../../src/runtime/definitions/executable.js';
import { calledFrom, codeIn, listedBy } from '../../src/runtime/definitions/used-by-code.js';

function fn(text: string): Executable {
  const module = createModule({ path: '/p/a.mld', display: 'a.mld', directory: '/p', text });
  return new Executable(parseScript(text, { mode: 'strict' }).statements[0] as Exe, module);
}

const called = (text: string, given: readonly string[], language = 'js'): readonly string[] => {
  const { node, params } = fn(text);
  return calledFrom(codeIn(node.body), { shadows: new Map([[language, given.map(fn)]]) }, params).map(({ name }) => name);
};

it('finds code and its listed variables at any depth', () => {
  const { node } = fn('exe @f(a) = [\n  let @x = js (@a, @tide) { return tide }\n  run sh (@wind) { echo $wind }\n  => @x\n]');
  expect(codeIn(node.body).map(({ language }) => language)).toEqual(['js', 'sh']);
  expect(listedBy(codeIn(node.body))).toEqual(['a', 'tide', 'wind']);
});

it('follows the functions that code mentions, by whole names and through each other', () => {
  const given = ['exe @g(x) = js { return h(x) }', 'exe @h(x) = js { return g(x) }', 'exe @gg(x) = js { return 1 }'];
  expect(called('exe @f(a) = js { return g(a) }', given)).toEqual(['g', 'h']);
  expect(called('exe @f(a) = js { return a.ggg }', given)).toEqual([]);
});

it('leaves out what a parameter or a listed variable hides, and functions of another language', () => {
  const given = ['exe @g(x) = js { return x }'];
  expect(called('exe @f(g) = js { return g }', given)).toEqual([]);
  expect(called('exe @f(a) = js (@g) { return g }', given)).toEqual([]);
  expect(called('exe @f(g) = js (@a) { return g(a) }', given)).toEqual(['g']);
  expect(called('exe @f(a) = node { return g(a) }', given)).toEqual([]);
});
