import { describe, expect, it } from 'vitest';
import { runScript } from '../support/in-fake-world.js';

const files = {
  '/p/log.txt': 'wind 12\ngust 31\n',
  '/p/port.json': '{"name":"Ystad","piers":[{"id":"P1","m":40},{"id":"P2","m":55.0}]}',
  '/p/loose.json': "{ port: 8080, /* c */ name: 'gull', }",
  '/p/broken.json': '{"a":',
  '/p/loans.jsonl': '{"who":"Ada","book":"Emma"}\n\n{"who":"Bo","book":"Dune"}\n',
  '/p/bad.jsonl': '1\n\n{nope\n',
  '/p/guide.md': '---\ntitle: Field guide\nrank: 3\n---\n# Guide\n\n## Birds\n\nWaders\n\n### Gulls\n\nLoud\n\n## Seals\n\nSleepy\n',
  '/p/rule.md': '---\njust text\n---\nrest',
  '/p/ships/gull.json': '{"name":"Gull","tons":120}',
  '/p/ships/tern.json': '{"name":"Tern","tons":80}',
  '/p/ships/wreck.json': '{"name":',
  '/p/notes/a.md': '# Todo\nbuy',
  '/p/notes/b.md': '# Other\nx',
  '/p/pages/[id].txt': 'a page',
  '/p/tpl/foot.txt': '-- end',
  '/p/odd.json': '{"mx":"a member","keep":"another"}',
};

async function shows(script: string): Promise<string> {
  const { shown, error } = await runScript(script, { files });
  if (error) throw error;
  return shown.replace(/\n$/, '');
}

async function fails(script: string): Promise<{ code: string; text: string; at: number | undefined }> {
  const { error } = await runScript(script, { files });
  if (!error) throw new Error('it did not fail');
  return { code: error.code, text: `${error.message} | ${error.hint ?? ''}`, at: error.location?.at };
}

describe('the value of a load', () => {
  it.each([
    ['var @t = <log.txt>\nshow @t.length', '16'],
    ['show <log.txt>', 'wind 12\ngust 31'],
    ['show <port.json>.piers[1].id', 'P2'],
    ['show `raw: <port.json>`', 'raw: {"name":"Ystad","piers":[{"id":"P1","m":40},{"id":"P2","m":55.0}]}'],
    ['show <loose.json>.port', '8080'],
    ['var @l = <loans.jsonl>\nshow @l.length', '2'],
    ['var @x = <gone.txt>?\nshow `x=@x;`', 'x=null;'],
    ['var @x = <@nope/x.txt>?\nshow `x=@x;`', 'x=null;'],
    ['var @x = <ships>?\nshow `x=@x;`', 'x=null;'],
    ['var @x = <broken.json>?\nshow `x=@x;`', 'x=null;'],
    ['var @x = <guide.md # Whales>?\nshow `x=@x;`', 'x=null;'],
    ['var @x = <*.zip>?\nshow @x.length', '0'],
    ['show <"log.txt">.length', '16'],
    ['var @g = <guide.md>\nvar @n = @g.mx.fm.rank + 1\nshow @n', '4'],
    ['var @g = <rule.md>\nvar @x = @g.mx.fm ?? "none"\nshow @x', 'none'],
    ['show <ships/gull.json>.mx.relative', './ships/gull.json'],
    ['var @t = <log.txt>\nshow @t.mx.taint.join(" ")', 'src:file'],
    ['var @m = <odd.json>\nshow @m.mx.data.mx', 'a member'],
    ['var @m = <odd.json>\nshow `@m.mx.data.mx, @m.keep`', 'a member, another'],
  ])('%s', async (script, expected) => {
    expect(await shows(script)).toBe(expected);
  });

  it('reads the file again at every evaluation', async () => {
    expect(await shows('output "one" to "f.txt"\nshow <f.txt>\noutput "two" to "f.txt"\nshow <f.txt>')).toBe('one\ntwo');
  });
});

describe('a file that cannot be loaded', () => {
  it.each([
    ['show <lig.txt>', 'FILE_NOT_FOUND', ['lig.txt', 'log.txt', 'relative to the folder of main.mld']],
    ['show <@root/lig.txt>', 'FILE_NOT_FOUND', ['@root/lig.txt', 'relative to the project root']],
    ['show <ships>', 'FILE_UNREADABLE', ['ships', 'directory']],
    ['var @n = "lig"\nshow <@n\\.txt>', 'FILE_NOT_FOUND', ['@n', 'lig.txt']],
    ['show <broken.json>', 'INVALID_JSON', ['broken.json']],
    ['show <bad.jsonl>', 'INVALID_JSON', ['bad.jsonl', 'line 3']],
    ['show <guide.md # Birbs>', 'SECTION_NOT_FOUND', ['Birbs', 'guide.md', 'Birds']],
    ['show <guide.md # Birds, Seals as "X">', 'RENAME_ONE_SECTION', ['one section']],
    ['show <@nope/x.txt>', 'FILE_NOT_FOUND', ['@nope/x.txt', 'Variable @nope is not defined']],
    ['var @n = "log"\nshow <@n.txt>', 'PATH_FIELD', ['looks like a field access', '@n\\.txt']],
    ['var @o = {"a": 1}\nshow <@o>', 'PATH_NOT_TEXT', ['@o', 'object']],
    ['var @o = {"a": 1}\nshow <@o.b/x.txt>', 'PATH_NOT_TEXT', ['@o.b', 'null']],
    ['var @e = ""\nshow <@e>', 'EMPTY_PATH', ['@e', 'empty']],
  ])('%s', async (script, code, words) => {
    const failure = await fails(script);
    expect(failure.code).toBe(code);
    for (const word of words) expect(failure.text).toContain(word);
    expect(failure.at).toBeTypeOf('number');
  });
});

describe('globs', () => {
  it.each([
    ['for @f in <ships/*.json> => show @f.mx.filename', 'gull.json\ntern.json\nwreck.json'],
    ['var @s = <ships/*.json>\nshow @s[1].tons', '80'],
    ['var @s = <ships/*.json>\nshow @s[2]', '{"name":'],
    ['show `<ships/[gt]*.json>`', '{"name":"Gull","tons":120}\n\n{"name":"Tern","tons":80}'],
    ['var @none = <*.zip>\nshow `g:@none:`', 'g::'],
    ['var @p = "ships/*.json"\nvar @s = <@p>\nshow @s.length', '3'],
    ['var @p = "pages/[id].txt"\nshow <@p>', 'a page'],
    ['var @s = <notes/*.md # Todo>\nshow @s.length', '1'],
    ['var @s = <notes/*.md # ??>\nshow @s[1].names[0]\nshow @s[1].file', 'Other\nb.md'],
  ])('%s', async (script, expected) => {
    expect(await shows(script)).toBe(expected);
  });
});

describe('sections', () => {
  it.each([
    ['show <guide.md # Gulls>', '### Gulls\n\nLoud'],
    ['show <guide.md # Guide; !# Gulls, Seals>', '# Guide\n\n## Birds\n\nWaders'],
    ['var @h = <guide.md # ??>\nshow @h.join("/")', 'Guide/Birds/Gulls/Seals'],
    ['var @h = <guide.md # ##??>\nshow @h.join("/")', 'Birds/Seals'],
    ['var @n = "Seals"\nshow <guide.md # @n>', '## Seals\n\nSleepy'],
    ['var @m = <guide.md # Whales?>\nshow `m=@m;`', 'm=;'],
    ['show <guide.md # Seals as "### Pinnipeds">', '### Pinnipeds\n\nSleepy'],
    ['show <guide.md # Seals as "Pinnipeds of <>.mx.filename">', '## Pinnipeds of guide.md\n\nSleepy'],
    ['show <guide.md # Seals as "#####">', '##### Seals\n\nSleepy'],
    ['show <guide.md # Seals as `whole: <>`>', 'whole: ## Seals\n\nSleepy'],
    ['var @s = <guide.md # Seals>\nshow @s.mx.fm.title', 'Field guide'],
  ])('%s', async (script, expected) => {
    expect(await shows(script)).toBe(expected);
  });
});

describe('templates over files', () => {
  it.each([
    [
      'var @t = <ships/[gt]*.json> as "- <>.mx.filename (<>.mx.relative)"\nshow @t\nshow @t.length',
      '- gull.json (./ships/gull.json)\n\n- tern.json (./ships/tern.json)\n2',
    ],
    ['var @pre = "file"\nshow <tpl/foot.txt as `@pre <>.mx.filename: <>`>', 'file foot.txt: -- end'],
    ['var @pre = "file"\nshow <tpl/foot.txt as "@pre <>.mx.nothing.at.all|">', '@pre |'],
    ['show <guide.md as "<>.mx.fm.title/<>.mx.fm.nope">', 'Field guide/'],
    ['show <ships/gull.json as "<>.name: <>.tons">', 'Gull: 120'],
    ['show <guide.md as "<>.filename in <>.relative: <>.fm.title, [<>.nope]">', 'guide.md in ./guide.md: Field guide, []'],
  ])('%s', async (script, expected) => {
    expect(await shows(script)).toBe(expected);
  });

  it('carries the labels of what it interpolates, over many files as well', async () => {
    expect(await shows('var secret @k = "s"\nvar @t = <ships/*.json> as `@k <>.mx.filename`\nshow @t.mx.labels.join(" ")')).toBe('secret');
    expect(await shows('var secret @k = "s"\nvar @t = <log.txt as `@k <>.mx.filename`>\nshow @t.mx.labels.join(" ")')).toBe('secret');
  });
});

describe('files inside text', () => {
  it.each([
    ['show `log: <log.txt>|@upper`', 'log: WIND 12\nGUST 31'],
    ['show `<port.json>.name has <port.json>.piers.length piers`', 'Ystad has 2 piers'],
    ['show "dq: <log.txt>"', 'dq: <log.txt>'],
    ['show `a<gone.txt>b`', 'ab'],
    ['show `a<broken.json>b`', 'ab'],
    ['show `a<*.zip>b`', 'ab'],
    ['show `mail <ann@port.example>`', 'mail <ann@port.example>'],
  ])('%s', async (script, expected) => {
    expect(await shows(script)).toBe(expected);
  });

  it('warns about files that a name which is not defined leaves out', async () => {
    const { shown, warnings } = await runScript('var @d = <@shipz/*.json>\nshow @d.length\nshow <@shipz/a.json>?', { files });
    expect(shown).toContain('0\n');
    expect(warnings.join()).toContain('@shipz/*.json names no file: Variable @shipz is not defined');
  });

  it('warns about a missing file by name, and continues', async () => {
    const { shown, warnings } = await runScript('show `a<gone.txt>b`\nshow "still"', { files });
    expect(shown).toBe('ab\nstill\n');
    expect(warnings.join()).toContain('gone.txt');
  });
});
