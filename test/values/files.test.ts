import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDataFile } from '../../src/values/formats/data-files.js';
import { parseScriptFrontmatter, parseYaml, splitFrontmatter, toYaml } from '../../src/values/formats/frontmatter.js';
import { extractSections, headings, listHeadings, renameHeading, type Selection } from '../../src/values/formats/sections.js';
import { textOf } from '../../src/values/text.js';
import { annotate, Annotated, dataOf, type Value } from '../../src/values/value.js';

describe('data files', () => {
  it.each<[string, string, Value]>([
    ['a.json', '{"n": 55.0}', { n: 55 }],
    ['A.JSON', "{ // c\n port: 8080,\n name: 'gull',\n}", { port: 8080, name: 'gull' }],
    ['a.json', '42', 42],
    ['a.json', 'null', null],
    ['a.json', '\uFEFF[1]', [1]],
    ['a.jsonl', '{"a":1}\n\n{a:2}\r\n', [{ a: 1 }, { a: 2 }]],
    ['a.jsonl', '', []],
    ['a.txt', '{"temp": 21}\n', { temp: 21 }],
    ['a.txt', '// from the buoy\n{temp: 21}', { temp: 21 }],
    ['a.txt', '{temp: 21} // now', { temp: 21 }],
    ['a.txt', '12\n', 12],
    ['a.txt', ' true ', true],
    ['a.txt', '"x"', 'x'],
    ['a.txt', "'x'", 'x'],
    ['a.txt', '+.5', 0.5],
    ['a.txt', '0x10', 16],
    ['a.txt', 'Infinity', Infinity],
  ])('%s with %j is data that keeps its text', async (name, text, data) => {
    const value = await parseDataFile(name, text);
    expect(value).toBeInstanceOf(Annotated);
    expect([dataOf(value), textOf(value)]).toEqual([data, text]);
  });

  it.each([
    '', ' \n', 'hello', 'wind 12\ngust 31\n', 'true story', 'nullify', '12 apples', '2024-01-02', '1.2.3', '007', '+', '-', '/usr/bin', '// comment only',
    '[link](http://a.example)', '{{name}}', '"Hello," he said', '"a" and "b"', "'tis", '---\na: 1\n---\n', 'a: 1', '\\x', 'NaN!', 'Infinity war',
  ])('text %j stays text', async (text) => {
    expect(await parseDataFile('a.txt', text)).toBe(text);
  }); // prettier-ignore

  it.each([
    ['broken.json', '{oops', /broken\.json/],
    ['empty.json', ' \n', /empty\.json/],
    ['log.jsonl', '{"a":1}\n\n{bad\n', /log\.jsonl, line 3/],
  ])('%s is refused by name', async (name, text, message) => {
    await expect(parseDataFile(name, text)).rejects.toMatchObject({ code: 'INVALID_JSON', message: expect.stringMatching(message) });
  });

  it('reads every JSON text under any name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.constantFrom('a.json', 'a.txt', 'a'), async (text, name) => {
        expect(dataOf(await parseDataFile(name, text))).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('frontmatter', () => {
  it.each([
    ['---\na: 1\n---\nBody.\n', { yaml: 'a: 1\n', body: 'Body.\n', bodyAt: 13 }],
    ['---\r\na: 1\r\n--- \r\nB', { yaml: 'a: 1\r\n', body: 'B', bodyAt: 17 }],
    ['---\n---', { yaml: '', body: '', bodyAt: 7 }],
    ['---\na: ---\n----\n---\n', { yaml: 'a: ---\n----\n', body: '', bodyAt: 20 }],
    ['---\na: 1\n', undefined],
    ['----\na\n---\n', undefined],
    ['a\n---\n---\n', undefined],
    ['--- a\n---\n', undefined],
    ['', undefined],
  ])('of %j', (text, parts) => {
    expect(splitFrontmatter(text)).toEqual(parts);
  });

  it('has the types of YAML in loaded files', async () => {
    const yaml = 'title: Tides\nrank: 3\ndraft: false\ntags: [moon, sea]\nwhen: 2024-05-01\nnone:\n"1": x\n';
    expect(await parseYaml(yaml)).toEqual({
      title: 'Tides',
      rank: 3,
      draft: false,
      tags: ['moon', 'sea'],
      when: '2024-05-01',
      none: null,
      '1': 'x',
    });
  });

  it('has texts only in scripts', async () => {
    const yaml = 'title: Night log\nrank: 4\nopen: true\ndays: [1, 2]\nkeeper:\n  name: Una\n  gone:\nempty: ""\nnil: null\n';
    expect(await parseScriptFrontmatter(yaml)).toEqual({
      title: 'Night log',
      rank: '4',
      open: 'true',
      days: ['1', '2'],
      keeper: { name: 'Una', gone: null },
      empty: '',
      nil: 'null',
    });
  });

  it.each([parseYaml, parseScriptFrontmatter])('says why YAML is invalid', async (parse) => {
    await expect(parse('a: [1\nb: 2')).rejects.toMatchObject({ code: 'INVALID_YAML' });
    await expect(parse('a: *nobody')).rejects.toMatchObject({ code: 'INVALID_YAML' });
    await expect(parse('a: [1\nb: 2')).rejects.not.toThrow(/line \d/); // the caller adds the place in the file
    expect(await parse('')).toBe(null);
  });

  it('writes YAML that reads back', async () => {
    expect(await toYaml({ a: 1, b: ['p', annotate('q', { labels: ['l'] })] })).toBe('a: 1\nb:\n  - p\n  - q\n');
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), async (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(await parseYaml(await toYaml(plain as Value))).toEqual(plain);
      }),
    );
  });
});

const guide = `---
title: Field guide # not a heading
---
# Guide

Intro line

## Birds

Waders

### Gulls

Loud

\`\`\`
## in a fence
\`\`\`

## Séals! ##

Sleepy
`;

const select = (include: string, exclude = ''): Selection => ({
  include: include.split(',').map((title) => ({ title: title.replace('?', ''), optional: title.endsWith('?') })),
  exclude: exclude === '' ? [] : exclude.split(',').map((title) => ({ title })),
});
const squeeze = (text: string): string => text.replace(/\n+/g, '\n');

describe('sections', () => {
  it('begin at headings, which fences and frontmatter do not have', () => {
    expect(headings(guide).map(({ level, title }) => `${level} ${title}`)).toEqual(['1 Guide', '2 Birds', '3 Gulls', '2 Séals!']);
    expect(headings(guide).map(({ at }) => guide.slice(at, at + 4))).toEqual(['# Gu', '## B', '### ', '## S']);
    expect(headings('#tag\n    # code\n   # yes\n####### seven\n#').map(({ title }) => title)).toEqual(['yes', '']);
    expect(headings('# A\r\n## B\r\n').map(({ title }) => title)).toEqual(['A', 'B']);
  });

  it.each<[string, string, string]>([
    ['Gulls', '', '### Gulls\nLoud\n```\n## in a fence\n```'],
    ['seals', '', '## Séals! ##\nSleepy'],
    ['SEA', '', '## Séals! ##\nSleepy'],
    ['Guide', 'Gulls,Seals', '# Guide\nIntro line\n## Birds\nWaders'],
    ['Guide', 'Whales,Birds', '# Guide\nIntro line\n## Séals! ##\nSleepy'],
    ['Birds', 'Birds', ''],
    ['Seals,Gulls', '', '### Gulls\nLoud\n```\n## in a fence\n```\n## Séals! ##\nSleepy'],
    ['Gulls,Birds', 'Gulls', '## Birds\nWaders'],
    ['Whales?', '', ''],
    ['Whales?,Seals', '', '## Séals! ##\nSleepy'],
  ])('%s without %j', (include, exclude, text) => {
    const found = extractSections(guide, select(include, exclude));
    expect([squeeze(found.text), found.missing]).toEqual([text, undefined]);
  });

  it('that are apart have one blank line between them, and are untouched inside', () => {
    const text = '# Guide\n## Birds\n### Gulls\nLoud\n\n\n## Worms\nw\n## Seals\nSleepy  \n\n\nand fat\n';
    expect(extractSections(text, select('Seals,Gulls')).text).toBe('### Gulls\nLoud\n\n## Seals\nSleepy  \n\n\nand fat');
  });

  it('that are missing are named', () => {
    expect(extractSections(guide, select('Seals,Whales'))).toEqual({ text: '', missing: 'Whales' });
    expect(extractSections(guide, select('!!'))).toEqual({ text: '', missing: '!!' });
  });

  it('are found by the beginning of their title, the first one first', () => {
    const text = '# Part one\nfirst\n# Part two\nsecond\n# 2. Set-Up (v1)\ndo it\n';
    expect(extractSections(text, select('part')).text).toBe('# Part one\nfirst');
    expect(extractSections(text, select('2 set up')).text).toBe('# 2. Set-Up (v1)\ndo it');
  });

  it('have titles without closing marks', () => {
    expect(listHeadings('# A ##\n# C#\n# ##\n# a # b\n')).toEqual(['A', 'C#', '', 'a # b']);
  });

  it('are found in work that grows with the length of the lines alone, whatever they look like', () => {
    // A pattern that tried each place anew would take longer than a test may.
    const hostile = `# ${'#'.repeat(2_000_000)}x\n# ${' '.repeat(2_000_000)}x\n`;
    expect(headings(hostile)).toHaveLength(2);
  });

  it('are listed, all or of one level', () => {
    expect(listHeadings(guide)).toEqual(['Guide', 'Birds', 'Gulls', 'Séals!']);
    expect(listHeadings(guide, 2)).toEqual(['Birds', 'Séals!']);
  });

  it.each([
    ['### Pinnipeds', '### Pinnipeds\nSleepy'],
    ['Pinnipeds of g.md', '## Pinnipeds of g.md\nSleepy'],
    ['#####', '##### Seals\nSleepy'],
    ['#tag', '## #tag\nSleepy'],
  ])('are renamed by %j', (heading, text) => {
    expect(renameHeading('## Seals\nSleepy', heading)).toBe(text);
  });

  it('of one line are renamed too', () => {
    expect(renameHeading('## Seals', 'Pinnipeds')).toBe('## Pinnipeds');
  });
});
