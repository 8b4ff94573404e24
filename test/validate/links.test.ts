import { describe, expect, it } from 'vitest';
import { analyze, errorLines, warningLines, type Texts } from './support/files-in-memory.js';

const deep = { depth: 'deep' } as const;

describe('imports, followed', () => {
  const rows: readonly (readonly [about: string, texts: Texts, errors: readonly string[]])[] = [
    ['a module', { 'main.mld': 'import { f } from "./lib"\nshow @f(1)', 'lib.mld': 'exe @f(a) = `@a`' }, []],
    ['no such module', { 'main.mld': 'import { f } from "./lib.mld"' }, ['1:19 unresolvable']],
    ['no such name', { 'main.mld': 'import { f, g } from "./l.mld"', 'l.mld': 'exe @f(a) = `@a`' }, ['1:13 unresolvable']],
    [
      'a private name',
      { 'main.mld': 'import { f } from "./l.mld"', 'l.mld': 'export { @g }\nvar @f = 1\nvar @g = 2' },
      ['1:10 unresolvable'],
    ],
    [
      'members of a module with a list',
      {
        'main.mld': 'import "./l.mld" as @l\nshow @l.f(1)\nshow `@l.g @l.k.trim() me@l.x @l.z?`\nvar @r = 1 | @l.h\nshow @l.__meta__',
        'l.mld': 'export { @f }\nexe @f(a) = `@a`\nvar @g = 1',
      },
      ['3:7 unresolvable', '3:12 unresolvable', '4:14 unresolvable'],
    ],
    [
      'members of a module without a list',
      {
        'main.mld': 'import { * as @l } from "./l.mld"\nshow @l.nothing\nshow @l.nothing(1)\nif @l.isDefined() [ show "a" ]',
        'l.mld': 'var @g = 1',
      },
      ['3:6 unresolvable'],
    ],
    ['members of data', { 'main.mld': 'import "./n.json" as @n\nshow `@n.a.b @n.c`', 'n.json': '{"a": {"b": 1}}' }, []],
    ['an empty list, and everything', { 'main.mld': 'import { f } from "./a.mld"\nimport { g } from "./b.mld"', 'a.mld': 'export { }\nvar @f = 1', 'b.mld': 'export { * }\nvar @g = 2' }, []], // prettier-ignore
    [
      'an export of nothing',
      { 'main.mld': 'import "./l.mld" as @l\nshow @l', 'l.mld': 'export { @g }' },
      ['l.mld:1:10 undefined-export @g'],
    ],
    ['a name of an arm', { 'main.mld': 'import { f } from "./l.mld"', 'l.mld': 'when @payload.a => var @f = 1' }, []],
    ['the value of a module', { 'main.mld': 'import { default as @r } from "./l.mld"', 'l.mld': 'if true [ => 1 ]' }, []],
    [
      'no value of a module',
      { 'main.mld': 'import { default as @r } from "./l.mld"', 'l.mld': 'exe @f() = [ => 1 ]' },
      ['1:10 unresolvable'],
    ],
    ['names handed on', { 'main.mld': 'import { f } from "./a.mld"', 'a.mld': 'import { f } from "./b.mld"', 'b.mld': 'var @f = 1' }, []],
    [
      'a broken module',
      { 'main.mld': 'import { f } from "./l.mld"', 'l.mld': 'show "1"\nvar @ = 1' },
      ['1:19 unresolvable', 'l.mld:2:1 syntax'],
    ],
    ['errors of a module', { 'main.mld': 'import "./l.mld" as @l\nshow @l', 'l.mld': 'var @now = 1' }, ['l.mld:1:5 reserved-name']],
    [
      'a circle',
      { 'main.mld': 'import { a } from "./a.mld"', 'a.mld': 'var @a = 1\nimport { b } from "./main.mld"' },
      ['a.mld:2:19 unresolvable'],
    ],
    ['itself', { 'main.mld': 'import "./main.mld" as @m' }, ['1:8 unresolvable']],
    ['data', { 'main.mld': 'import { host, prt } from "./n.json"', 'n.json': '{"host": "a", "port": 1}' }, ['1:16 unresolvable']],
    ['other data', { 'main.mld': 'import { content } from "./n.json"', 'n.json': '[1]' }, []],
    ['broken data', { 'main.mld': 'import { a } from "./n.json"', 'n.json': '{a: 1}' }, ['1:19 unresolvable']],
    ['a document', { 'main.mld': 'import { a } from "./n.md"', 'n.md': 'var @b = 1 is prose\n\n/var @a = 1\n' }, []],
    ['any other file', { 'main.mld': 'import { a } from "./n.txt"', 'n.txt': 'a' }, ['1:10 unresolvable']],
    ['a folder with an index', { 'main.mld': 'import { a } from "./lib"', 'lib/index.mld': 'var @a = 1' }, []],
    ['a folder of folders', { 'main.mld': 'import { night-watch } from "./lib"', 'lib/night-watch/index.mld': 'var @a = 1' }, []],
    ['a folder of hidden folders', { 'main.mld': 'import "./lib" as @l', 'lib/_a/index.mld': 'var @a = 1', 'lib/b/x.mld': 'var @a = 1' }, ['1:8 unresolvable']], // prettier-ignore
    ['the project root', { 'main.mld': 'import { a } from @root/lib/x.mld\nimport { b } from "@base/lib/x"', 'lib/x.mld': 'var @a = 1\nvar @b = 1' }, []], // prettier-ignore
    ['what only a run knows', { 'main.mld': 'var @n = "x"\nimport { a } from "./@n\\.mld"\nimport { b } from "@cfg"\nimport { c } from @payload\nimport { d } from node @path' }, []], // prettier-ignore
    [
      'checkpoints of one name',
      { 'main.mld': 'checkpoint "a"\nimport "./l.mld" as @l', 'l.mld': 'checkpoint "a"' },
      ['1:1 checkpoint-twice'],
    ],
    ['hooks of one name', { 'main.mld': 'import "./l.mld" as @l\nhook @h before op:run = [ log "1" ]', 'l.mld': 'hook @h before op:run = [ log "1" ]' }, ['2:1 declared-twice']], // prettier-ignore
  ];
  it.each(rows)('%s', async (_about, texts, errors) => {
    expect(errorLines(await analyze(texts, deep))).toEqual(errors);
  });

  it('are followed only on request', async () => {
    const { reads, valid } = await analyze({ 'main.mld': 'import { f } from "./lib.mld"\nexe @g(a) = template "./g.att"' });
    expect(reads).toEqual(['main.mld']);
    expect(valid).toBe(true);
  });

  it('are read once, however many import them', async () => {
    const importing = 'import "./lib.mld" as @lib\nshow @lib';
    const { reads, antiPatterns } = await analyze(
      { 'main.mld': `import "./a.mld" as @a\n${importing}`, 'a.mld': importing, 'lib.mld': 'exe @f(data) = `@data`' },
      deep,
    );
    expect(reads).toEqual(['main.mld', 'a.mld', 'lib.mld']);
    expect(antiPatterns).toHaveLength(1);
  });

  it('suggest names that the module exports', async () => {
    const { errors } = await analyze({ 'main.mld': 'import { lable, x } from "./l.mld"', 'l.mld': 'var @label = 1' }, deep);
    expect(errors?.map(({ message, hint }) => `${message}: ${hint}`)).toEqual([
      '@lable is not exported by ./l.mld: did you mean @label?',
      '@x is not exported by ./l.mld: it exports @label',
    ]);
  });

  it('find prefixes of the configuration', async () => {
    const texts = { 'main.mld': 'import { a, b } from @lib/x\nimport { c } from "@lib/y.mld"', 'src/x.mld': 'var @a = 1' };
    const report = await analyze(texts, { ...deep, prefixes: [{ prefix: '@lib/', basePath: '/project/src' }] });
    expect(errorLines(report)).toEqual(['1:13 unresolvable', '2:19 unresolvable']);
  });

  it('know how many arguments imported functions take', async () => {
    const texts = {
      'main.mld':
        'import { f as @g } from "./a.mld"\nshow @g(1)\nshow @g(1, 2)\nimport "./b.mld" as @b\nshow @b.f(1, 2)\nvar @x = 1 | @b.f(2)',
      'a.mld': 'import { f } from "./b.mld"',
      'b.mld': 'exe @f(x) = `@x`',
    };
    expect(warningLines(await analyze(texts, deep))).toEqual(['3:6 surplus-arguments', '5:6 surplus-arguments', '6:14 surplus-arguments']);
  });
});

describe('templates', () => {
  const exe = 'var @ship = 1\nexe @card(name, age) = template "./t/card.att"';

  it('are looked for', async () => {
    expect(errorLines(await analyze(exe, deep))).toEqual(['2:33 unresolvable']);
    expect(errorLines(await analyze({ 'main.mld': exe, 't/card.att': 'a\n/end\n' }, deep))).toEqual(['t/card.att:2:1 syntax']);
  });

  it('may use their parameters and the names of the script', async () => {
    const card = 'Hi @name, @age|@upper, crew@port, @ship, @@at\n/for @x in @name\n@x @y\n/end\n@mx.try @nmae';
    const report = await analyze({ 'main.mld': exe, 't/card.att': card }, deep);
    expect(warningLines(report)).toEqual(['t/card.att:3:4 template-parameter @y', 't/card.att:5:9 template-parameter @nmae']);
  });

  it('are held against every function of the project when they are looked at by themselves', async () => {
    const texts = {
      'main.mld': exe,
      'lib/b.mld': 'exe @c(port) = template "../t/card.att"',
      't/card.att': '@name @port @ghost',
      'x.mld': 'var @',
    };
    expect(await analyze(texts, { main: 't/card.att' })).toMatchObject({
      valid: true,
      template: { type: 'att', variables: ['name', 'port', 'ghost'], discoveredParams: ['port', 'name', 'age'] },
      warnings: [{ variable: 'ghost', line: 1, column: 13 }],
    });
  });

  it('say nothing of names when no function is declared for them', async () => {
    const report = await analyze({ 'note.mtt': 'To {{name}}, @src' }, { main: 'note.mtt' });
    expect(report).toEqual({
      filepath: 'note.mtt',
      valid: true,
      template: { type: 'mtt', variables: ['name'], discoveredParams: [] },
      reads: ['note.mtt'],
    });
  });

  it('of a collection have one signature', async () => {
    const texts = {
      'main.mld': 'import templates from "./t" as @t(names)\nshow @t.a("x")',
      't/a.att': '@names',
      't/b/c.mtt': '{{names}} {{other}}',
    };
    expect(errorLines(await analyze(texts, deep))).toEqual(['t/b/c.mtt:1:13 template-parameter']);
    expect(warningLines(await analyze(texts, { main: 't/b/c.mtt' }))).toEqual(['1:13 template-parameter @other']);
    expect(errorLines(await analyze({ 'main.mld': 'import templates from "./t" as @t(a)' }, deep))).toEqual(['1:23 unresolvable']);
  });
});
