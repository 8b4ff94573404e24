/** An error lists the places that led to it: imports, calls, templates and statements, innermost first. world.md 18. */
import { describe, expect, it } from 'vitest';
import { locate } from '../../grammar/parse.js';
import { runScript } from '../support/in-fake-world.js';

const files = {
  '/p/a.mld': 'import { @b } from "./deep/b.mld"\nexe @a(list) = [\n  let @r = @b(@list)\n  => @r\n]\nexport { @a }',
  '/p/deep/b.mld': 'import { @c } from "./c.mld"\nexe @b(list) = [\n  for @i in @list [\n    show @c(@i)\n  ]\n]',
  '/p/deep/c.mld': 'exe @bad(x) = `@x.y()`\nexe @c(x) = for @y in [1, 2] =>\n  @bad(@y)',
  '/p/tpl.mld': 'exe @boom(x) = [ bail "stop @x" ]\nexe @page(x) = template "./t/page.att"\nexport { @page }',
  '/p/t/page.att': 'first line\nthen @boom(@x)\n',
  '/p/bad.json': '{\n  "a": 1,}',
  '/p/one.mld': 'import { @x } from "./two.mld"',
  '/p/two.mld': 'import { @x } from "./three.mld"',
  '/p/three.mld': 'var @y = 1\nvar @x = <gone.txt>',
};

async function way(script: string): Promise<string[]> {
  const { error } = await runScript(script, { files });
  if (!error?.location) throw new Error('it has no place');
  const places = [{ what: 'at', location: error.location }, ...error.trail];
  return places.map(({ what, location: { file, text, at } }) => {
    const { line, column } = locate(text, at);
    return `${what} ${file}:${line}:${column}`;
  });
}

describe('the way to an error', () => {
  it.each<[string, string, string[]]>([
    [
      'through three levels of import',
      'import { @x } from "./one.mld"',
      ['at three.mld:2:10', 'var three.mld:2:1', 'import two.mld:1:1', 'import one.mld:1:1', 'import main.mld:1:1'],
    ],
    [
      'through calls and loops of modules, a call on a line of its own by its name',
      'import { @a } from "./a.mld"\nshow @a([1])',
      [
        'at deep/c.mld:1:18',
        '@bad deep/c.mld:3:7',
        'for @y, item 1 of 2: 1 deep/c.mld:2:13',
        '@c deep/b.mld:4:12',
        'for @i, item 1 of 1: 1 deep/b.mld:3:3',
        '@b a.mld:3:14',
        '@a main.mld:2:8',
      ],
    ],
    [
      'through a template of a module',
      'import { @page } from "./tpl.mld"\nshow @page("p")',
      ['at tpl.mld:1:18', '@boom t/page.att:2:11', '@page main.mld:2:11'],
    ],
    [
      'through the stages of a pipeline',
      'exe @f(x) = @x | @g | @h\nexe @g(x) = `@x!`\nexe @h(x) = `@x.y()`\nvar @z = "a" | @f',
      ['at main.mld:3:16', '@h main.mld:1:23', '@f main.mld:4:16'],
    ],
    [
      'through the items of a loop, with the first line of a text, and nothing of a secret one',
      'exe @f(x) = `@x.y()`\nvar secret @s = ["key"]\nfor @x in ["skip\\nrest"] [\n  for @y in @s [\n    show @f(@y)\n  ]\n]',
      ['at main.mld:1:16', '@f main.mld:5:12', 'for @y, item 1 of 1 main.mld:4:3', 'for @x, item 1 of 1: "skip" main.mld:3:1'],
    ],
    [
      'through a call of foreach, into its body',
      'exe @bad(x) = `@x.y()`\nvar @z = foreach @bad(["one", "two"])',
      ['at main.mld:1:18', '@bad main.mld:2:10', 'foreach @bad, item 1 of 2: "one" main.mld:2:10', 'var main.mld:2:1'],
    ],
    ['in a built-in stage', 'var @z =\n  "{a" | @trim | @parse', ['at main.mld:2:18', 'var main.mld:1:1']],
    ['to a function that is not there', 'show `a`\nvar @z = [1, @gone.fetch(1)]', ['at main.mld:2:14', 'var main.mld:2:1']],
    ['to what is not JSON', 'import "./bad.json" as @b', ['at bad.json:2:10', 'import main.mld:1:1']],
  ])('%s', async (_, script, expected) => {
    expect(await way(script)).toEqual(expected);
  });
});
