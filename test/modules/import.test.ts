import { describe, expect, it } from 'vitest';
import { runScript, type ScriptOptions } from '../support/in-fake-world.js';

const TALLY = `---
name: tally
version: 1.2.0
---
var @prefix = "Total:"
var secret @key = "k"
exe @label(x) = \`@prefix @x\`
exe @inner() = "from inside"
exe @viaInner() = @inner()
export { @label, @viaInner, @key }`;

const files = {
  '/p/lib/tally.mld': TALLY,
  '/p/lib/open.mld': 'var @a = 1\nvar @b = "two"\nimport { @label } from "./tally.mld"',
  '/p/lib/calc.mld': 'var @rate = 5\n=> { sum: 12 }',
  '/p/lib/my-lib.mld': 'var @v = "mine"',
  '/p/star.mld': 'export { * }\nvar @p = 3',
  '/p/early.mld': 'export { a }\nvar @a = 1\nvar @b = 2\nvar @hidden = 0\nexport { @b }',
  '/p/undefined.mld': 'var @a = 1\nexport { @a, @zzz }',
  '/p/one.mld': 'import { @b } from "./two.mld"\nvar @a = 1',
  '/p/two.mld': 'import { @a } from "./one.mld"\nvar @b = 2',
  '/p/self.mld': 'import { @x } from "./self.mld"',
  '/p/back.mld': 'import { @x } from "./main.mld"',
  '/p/bad.mld': 'var @ = 3',
  '/p/throws.mld': 'var @x = @nothing.here',
  '/p/bails.mld': 'bail "no luck"',
  '/p/head.mld': '---\na: [\n---\nvar @x = 1',
  '/p/noisy.mld':
    'show "s"\nlog "l"\noutput "x" to "o.txt"\nappend "x" to "a.txt"\nif true [ show "if" ]\nfor @i in [1] => show "for"\nwhen true => show "when"\nexe @say() = [\n  log "said"\n  => "yes"\n]\nvar @v = 7\nshow @say()',
  '/p/prose.mld.md': '# Manual\n\nSome text about @nothing.\n\n/var @word = "two words"\n\nMore text.\n',
  '/p/net.json': '{"host":"pier","port":80,"tags":["fast"]}',
  '/p/list.json': '[1,2]',
  '/p/loose.json': '{a: 1}',
  '/p/note.txt': 'text',
  '/p/card.att': 'Hi @name',
  '/p/crew/deck/index.mld': 'exe @who() = "bosun"\nvar @rank = 2\nexport { @who, @rank }',
  '/p/crew/night-watch/index.mld': 'exe @who() = "owl"',
  '/p/crew/_reserve/index.mld': 'exe @who() = "spare"',
  '/p/crew/papers/list.txt': 'x',
  '/p/kit/index.mld': 'var @i = "whole kit"',
  '/p/kit/rope/index.mld': 'var @i = "rope part"',
  '/p/void/readme.txt': 'x',
};

async function shows(script: string, options: ScriptOptions = {}): Promise<string> {
  const { shown, error } = await runScript(script, { files, ...options });
  if (error) throw error;
  return shown.replace(/\n$/, '');
}

describe('the names that an import binds', () => {
  it.each([
    ['import { @label, @label as @say } from "./lib/tally.mld"\nshow @say("7")', 'Total: 7'],
    ['import { viaInner } from "./lib/tally"\nshow @viaInner()', 'from inside'],
    ['import { @label } from "./lib/tally.mld"\nvar @prefix = "Mine:"\nshow @label("5")', 'Total: 5'],
    ['import "./lib/tally.mld" as @t\nshow @t.label("8")\nshow @t.__meta__.version', 'Total: 8\n1.2.0'],
    ['import { * as @t } from "./lib/tally.mld"\nshow @t.label("8")', 'Total: 8'],
    ['import "./lib/open.mld"\nshow `@open.a @open.b`\nshow @open.label("x")', '1 two\nTotal: x'],
    ['import "./lib/my-lib.mld"\nshow @my_lib.v', 'mine'],
    ['import { default as @r } from "./lib/calc.mld"\nimport "./lib/calc.mld" as @c\nshow `@r.sum @c.default.sum @c.rate`', '12 12 5'],
    ['import { @p } from "./star.mld"\nshow @p', '3'],
    ['import { @a, @b } from "./early.mld"\nshow `@a@b`', '12'],
    ['import { host, port as @q } from "./net.json"\nshow `@host:@q`', 'pier:80'],
    ['import "./net.json" as @net\nshow @net.tags[0]', 'fast'],
    ['import { content } from "./list.json"\nshow @content.length', '2'],
    ['import { @word } from "./prose.mld.md"\nshow @word', 'two words'],
    ['import { @p as @p1 } from <@root/star.mld>\nvar @d = "lib"\nimport { @rate } from "./@d/calc.mld"\nshow `@p1@rate`', '35'],
    ['import "./crew" as @crew\nshow @crew.deck.who()\nshow @crew["night-watch"].who()\nshow `@crew.deck.rank`', 'bosun\nowl\n2'],
    [
      'import "./crew" as @all with { skipDirs: ["d*"] }\nshow @all._reserve.who()\nvar @none = @all.deck ?? "no deck"\nshow @none',
      'spare\nno deck',
    ],
    ['import { deck } from "./crew"\nshow @deck.who()', 'bosun'],
    ['import { @i } from "./kit"\nimport "./kit/" as @parts\nshow `@i, @parts.rope.i`', 'whole kit, rope part'],
    ['import "./lib/open.mld" as @o\nvar @x = @o.nope ?? "null"\nshow @x', 'null'],
    ['import "./lib/tally.mld" as @t\nshow `x=@t.prefix;`', 'x=null;'],
    ['import static { @p } from "./star.mld"\nshow @p', '3'],
  ])('%s', async (script, expected) => {
    expect(await shows(script)).toBe(expected);
  });

  it('keeps the labels of each export apart', async () => {
    const script =
      'import "./lib/tally.mld" as @t\nvar @k = @t.key\nvar @f = @t.label("x")\nshow `[@k.mx.labels.join(" ")] [@f.mx.labels.join(" ")]`';
    expect(await shows(script)).toBe('[secret] []');
    expect(await shows('import { @key } from "./lib/tally.mld"\nshow @key.mx.labels.join(" ")')).toBe('secret');
  });

  it('shows a namespace as frontmatter and exports in two groups', async () => {
    const shown = await shows('import "./lib/tally.mld" as @t\nshow @t');
    expect(JSON.parse(shown)).toEqual({
      frontmatter: { name: 'tally', version: '1.2.0' },
      exports: { variables: { key: 'k' }, executables: { label: '<function(x)>', viaInner: '<function()>' } },
    });
    expect(JSON.parse(await shows('import "./star.mld" as @s\nshow @s'))).toEqual({ exports: { variables: { p: 3 }, executables: {} } });
  });
});

describe('evaluating a module', () => {
  it('happens once per run', async () => {
    const { world } = await runScript(
      'import { @label } from "./lib/tally.mld"\nimport "./lib/tally.mld" as @t\nimport { @a } from "./lib/open.mld"',
      {
        files,
      },
    );
    expect(world.performed.filter((effect) => effect === 'file.read /p/lib/tally.mld')).toHaveLength(1);
  });

  it('is silent at the top level, also inside if, for and when, but not in functions', async () => {
    const { shown, stderr, world, error } = await runScript('import { @v, @say } from "./noisy.mld"\nshow @v\nshow @say()', { files });
    expect(error).toBeUndefined();
    expect(shown).toBe('7\nyes\n');
    expect(stderr).toBe('said\n');
    expect([world.files.has('/p/o.txt'), world.files.has('/p/a.txt')]).toEqual([false, false]);
  });

  it('sees its own frontmatter', async () => {
    const own = { ...files, '/p/m.mld': '---\nname: helper\n---\nvar @id = @fm.name' };
    expect(await shows('---\nname: main\n---\nimport { @id } from "./m.mld"\nshow `@fm.name @id`', { files: own })).toBe('main helper');
  });
});

describe('imports that fail', () => {
  it.each([
    ['import { @x } from "./lost.mld"', 'FILE_NOT_FOUND', ['lost.mld']],
    ['import { @x } from "./earli.mld"', 'FILE_NOT_FOUND', ['early.mld']],
    ['import { @prefix } from "./lib/tally.mld"', 'NOT_EXPORTED', ['prefix', 'tally.mld']],
    ['import { @labl } from "./lib/tally.mld"', 'NOT_EXPORTED', ['did you mean @label?']],
    ['import "./lib/tally.mld" as @t\nshow @t.prefix', 'NOT_EXPORTED', ['prefix']],
    ['import { @a } from "./undefined.mld"', 'EXPORT_UNDEFINED', ['zzz', 'undefined.mld']],
    ['import { @a } from "./one.mld"', 'CIRCULAR_IMPORT', ['Circular', 'one.mld', 'two.mld']],
    ['import { @x } from "./self.mld"', 'CIRCULAR_IMPORT', ['Circular', 'self.mld']],
    ['import { @x } from "./back.mld"', 'CIRCULAR_IMPORT', ['Circular', 'main.mld']],
    ['import { @p } from "./star.mld"\nimport { @p } from "./star.mld"', 'REDECLARED', ['@p']],
    ['var @p = 1\nimport { @p } from "./star.mld"', 'REDECLARED', ['@p']],
    ['import { @p } from "./star.mld"\nvar @p = 1', 'REDECLARED', ['@p']],
    ['import { @p as @now } from "./star.mld"', 'RESERVED_NAME', ['@now']],
    ['import "./void" as @v', 'DIRECTORY_EMPTY', ['void']],
    ['import { @c } from "./card.att"', 'TEMPLATE_IMPORT', ['card.att']],
    ['import { @c } from "./note.txt"', 'NOT_EXPORTED', ['note.txt', '@c']],
    ['import { a } from "./loose.json"', 'INVALID_JSON', ['loose.json']],
    ['import live { @p } from "./star.mld"', 'IMPORT_TYPE', ['live']],
    [
      'import live { @p } from "https://quay.example/star.mld"',
      'IMPORT_TYPE',
      ['live', 'mlld modules add https://quay.example/star.mld --as'],
    ],
    ['import cached(1h) { @p } from "./star.mld"', 'IMPORT_TYPE', ['cached']],
    ['import { x } from @unheard/of', 'MODULE_NOT_ADDED', ['@unheard/of', 'mlld modules add']],
    ['import { x } from @unheard', 'UNKNOWN_SOURCE', ['@unheard']],
    ['import { @x } from "./bad.mld"', 'SYNTAX', ['']],
    ['import { @x } from "./throws.mld"', 'UNKNOWN_VARIABLE', ['nothing']],
    ['import { @x } from "./bails.mld"', 'BAIL', ['no luck']],
    ['import { @x } from "./head.mld"', 'INVALID_YAML', ['Invalid YAML']],
  ])('%s', async (script, code, words) => {
    const { error } = await runScript(script, { files });
    expect(error).toMatchObject({ code });
    for (const word of words) expect(`${error?.message} ${error?.hint}`).toContain(word);
    expect(error?.location).toBeDefined();
  });

  it.each([
    ['bad.mld', 'var @ = 3'],
    ['throws.mld', 'var @x = @nothing.here'],
    ['bails.mld', 'bail "no luck"'],
    ['head.mld', '---\na: [\n---\nvar @x = 1'],
  ])('names %s and the import that led there', async (name, text) => {
    const nested = { ...files, '/p/outer.mld': `import { @x } from "./${name}"` };
    const { error } = await runScript('import { @x } from "./outer.mld"', { files: nested });
    expect(error?.location).toMatchObject({ file: name, text });
    expect(error?.trail.map(({ location }) => location.file).slice(-2)).toEqual(['outer.mld', 'main.mld']);
  });
});

describe('inputs of the run', () => {
  it.each<[string, ScriptOptions, string]>([
    ['import { topic, nope } from @payload\nshow `@topic @nope`', { payload: { topic: 'tides' } }, 'tides null'],
    ['import "@payload" as @p\nshow `@p.topic @p.nope`', { payload: { topic: 'tides' } }, 'tides null'],
    ['import { count } from @state\nshow @count', { state: { count: '9' } }, '9'],
    [
      'import { version, team as @t } from @input\nshow `@version @t.lead`',
      { stdin: '{"version":"2.1","team":{"lead":"Ann"}}' },
      '2.1 Ann',
    ],
    ['import @input as @in\nshow @in.version', { stdin: '{"version":"2.1"}' }, '2.1'],
    ['import { content } from @stdin\nshow `[@content]`', { stdin: ' two words\n' }, '[two words]'],
    ['import { value } from @input\nshow @value', { stdin: '12' }, '12'],
    [
      'import { MLLD_COLOR, SECRET } from @input\nshow `@MLLD_COLOR @SECRET`',
      { environment: { MLLD_COLOR: 'blue', SECRET: 's' } },
      'blue null',
    ],
    ['import { MLLD_COLOR } from @input\nshow @MLLD_COLOR', { environment: { MLLD_COLOR: 'blue' }, stdin: '{"MLLD_COLOR":"red"}' }, 'red'],
    [
      'import { port } from "@cfg"\nimport "@cfg" as @c\nshow `@port @c.port`',
      { injected: new Map([['@cfg', { kind: 'data', value: { port: 80 } }]]) },
      '80 80',
    ],
    [
      'import { @q } from @app/src\nshow @q',
      { injected: new Map([['@app/src', { kind: 'source', text: 'var @q = <note.txt>' }]]) },
      'text',
    ],
    [
      'import { @p } from @lib/star\nimport { @p as @p2 } from "@lib/star.mld"\nshow `@p@p2 <@lib/note.txt>`',
      { prefixes: [{ prefix: '@lib/', basePath: '/p' }] },
      '33 text',
    ],
  ])('%s', async (script, options, expected) => {
    expect(await shows(script, options)).toBe(expected);
  });
});

describe('Node modules', () => {
  class Point {
    constructor(readonly x: number) {}
  }
  function Fails(): never {
    throw new Error('no such point');
  }
  const node = {
    path: { basename: (file: string) => file.split('/').at(-1) },
    '@deck/geo': { Point, Fails },
    'fs/promises': { later: async () => 'then' },
  };

  it.each([
    ['import { basename } from node @path\nshow @basename("/a/tide.txt")', 'tide.txt'],
    ['import { Point } from node @deck/geo\nexe @p = new @Point(4)\nshow @p.x', '4'],
    ['import { later } from node @fs/promises\nshow @later()', 'then'],
  ])('%s', async (script, expected) => {
    expect(await shows(script, { node })).toBe(expected);
  });

  it('reports a function that throws at the place of its call', async () => {
    const { error } = await runScript('import { basename } from node @path\nshow @basename(null)', { files, node });
    expect(error?.location).toMatchObject({ file: 'main.mld', at: 'import { basename } from node @path\nshow @basename'.length });
  });

  it.each([
    ['import { basenam } from node @path', 'NOT_EXPORTED', 'did you mean basename?'],
    ['import "nothing" from node @path', 'SYNTAX', ''],
    ['import node @path as @p', 'NODE_IMPORT', 'name by name'],
    ['import { x } from node @nowhere', 'NODE_MODULE', 'nowhere'],
    ['import { basename } from node @path\nshow @basename(null)', 'CODE_THREW', '@basename: '],
    ['import { Fails } from node @deck/geo\nexe @f = new @Fails(1)\nshow @f.x', 'CODE_THREW', 'new @Fails: no such point'],
  ])('%s', async (script, code, words) => {
    const { error } = await runScript(script, { files, node });
    expect(error).toMatchObject({ code });
    expect(`${error?.message} ${error?.hint}`).toContain(words);
  });
});
