import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import type { Exe } from '../../grammar/ast.js';
import { createModule } from '../../src/language/source-module.js';
import { Executable } from '../../src/runtime/definitions/executable.js';
import { functionsIn, functionsReached, usesIn } from '../../src/runtime/definitions/uses.js';
import { annotate, type Data } from '../../src/values/value.js';

const module = createModule({ path: '/p/job.mld', display: 'job.mld', directory: '/p', text: '' });
const declared = (text: string): Executable => new Executable(parseScript(text, { mode: 'strict' }).statements[0] as Exe, module);
const up = declared('exe @up(x) = `up`');
const down = declared('exe @down(x) = `down`');

it.each([
  ['@ask(@x)', ['ask', 'x']],
  ['@tools.ask(@x.y)', ['tools.ask', 'x.y']],
  ['@tools.deep.ask(1).name', ['tools.deep.ask']],
  ['@tools[0].ask', ['tools']],
  ['@x | @tools.ask | @up', ['x', 'tools.ask', 'up']],
  ['`at @tools.depth`', ['tools.depth']],
])('uses of %s', (written, expected) => {
  const { body } = declared(`exe @f(x) = [\n  => ${written}\n]`).node;
  expect(usesIn(body).map(({ name, members }) => [name, ...members].join('.'))).toEqual(expected);
});

describe('functions of a value', () => {
  const tools: Data = { up, more: annotate([down, 'text'], {}) as Data, depth: 4 };

  it.each([
    ['a text', 'text', []],
    ['a function', up, [up]],
    ['a labelled function', annotate(up, { labels: ['pii'] }), [up]],
    ['an object and its lists', tools, [up, down]],
    ['the same one twice', [up, up], [up]],
  ])('in %s', (_, value, expected) => {
    expect(functionsIn(value)).toEqual(expected);
  });

  it.each([
    [['up'], [up]],
    [['more'], [down]],
    [['depth'], []],
    [[], [up, down]],
    [['up', 'name'], [up]], // a method of what the function returns, or a mistake
    [['absent'], [up, down]], // read by a name that the script makes
  ])('reached by %j', (members, expected) => {
    expect(functionsReached(tools, { name: 'tools', members })).toEqual(expected);
  });

  it('are not looked for without an end', () => {
    let deep: Data = [up];
    for (let i = 0; i < 20_000; i++) deep = [deep];
    expect(functionsIn(deep)).toEqual([]);
  });
});
