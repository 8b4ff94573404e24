import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Callable } from '../../src/values/kinds/callable.js';
import { normaliseDocument, indentedJson, layoutJson, showText } from '../../src/values/show.js';
import { compactJson, textOf } from '../../src/values/text.js';
import { annotate, HostObject, LazyData, type Value } from '../../src/values/value.js';

class Greet extends Callable {
  readonly name = 'greet';
  readonly params = ['who', 'how'];
  readonly labels = [];
}

const file = (name: string) => ({ absolute: `/p/${name}`, relative: `./${name}` });
const loaded = (name: string, data: Value, text: string) => annotate(data as string, { text, file: file(name) });

describe('the text view', () => {
  it.each<[string, Value, string]>([
    ['a text', 'a', 'a'],
    ['a number', 2.5, '2.5'],
    ['a large number', 1e21, '1e+21'],
    ['NaN', NaN, 'NaN'],
    ['a boolean', false, 'false'],
    ['null', null, 'null'],
    ['nothing', undefined, ''],
    ['an array', [1, 'two', null, { k: true }], '[1,"two",null,{"k":true}]'],
    ['an object with NaN', { n: NaN }, '{"n":null}'],
    ['a labelled text', annotate('pin', { labels: ['secret'] }), 'pin'],
    ['data read from text', annotate({ a: 1 }, { text: '{ "a": 1 }' }), '{ "a": 1 }'],
    ['a labelled member', { a: annotate('x', { labels: ['pii'] }) }, '{"a":"x"}'],
    ['a function', new Greet(), '<function(who, how)>'],
    ['a function in a list', [new Greet()], '["<function(who, how)>"]'],
    ['a host object', new HostObject(new URL('http://a.example/b')), 'http://a.example/b'],
    ['loaded files', [loaded('a.txt', 'one', 'one'), loaded('b.json', { b: 2 }, '{ "b": 2 }')], 'one\n\n{ "b": 2 }'],
    ['a list that begins with a loaded file', [loaded('a.txt', 'one', 'one'), 'two'], '["one","two"]'],
  ])('of %s', (_, value, text) => {
    expect(textOf(value)).toBe(text);
  });

  it('asks a recalled result for its text, and does not read the data for it', () => {
    const data = (): never => {
      throw new Error('read');
    };
    expect(textOf(new LazyData({ data, text: () => 'answer' }, { labels: [], sources: [] }))).toBe('answer');
  });

  it('never fails and is JSON for every collection', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = textOf(value as Value);
        if (typeof value === 'object') expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is compact', () => {
    expect(compactJson({ a: [1, { b: 'ü"\n' }] })).toBe('{"a":[1,{"b":"ü\\"\\n"}]}');
    expect(compactJson(undefined)).toBe('null');
  });
});

describe('show', () => {
  const sixty = 'x'.repeat(56); // ["…"] has 60 characters
  it.each<[string, Value, string]>([
    ['null', null, ''],
    ['infinity', Infinity, 'Infinity'],
    ['a function', new Greet(), '<function(who, how)>'],
    ['an empty array', [], '[]'],
    ['an empty object', {}, '{}'],
    ['one short element', ['x'], '["x"]'],
    ['one null', [null], '[null]'],
    ['one element of 60 characters', [sixty], `["${sixty}"]`],
    ['one element of 61 characters', [`${sixty}x`], `[\n  "${sixty}x"\n]`],
    ['one long entry', { k: 'x'.repeat(90) }, `{"k": "${'x'.repeat(90)}"}`],
    ['one entry with a list', { k: [] }, '{\n  "k": []\n}'],
    ['an empty list in a list', [[]], '[\n  []\n]'],
    ['nested', ['x', { k: [] }], '[\n  "x",\n  {\n    "k": []\n  }\n]'],
    ['NaN in JSON', [NaN], '[null]'],
    ['text that is JSON', '{"a":1,"b":"é"}', '{\n  "a": 1,\n  "b": "é"\n}'],
    ['JSON text with blanks around', ' [1, 2]\n', '[\n  1,\n  2\n]'],
    ['text that is almost JSON', '{"a": }', '{"a": }'],
    ['JSON in text', 'see [1,2]', 'see [1,2]'],
    ['a quoted text', '"quoted"', '"quoted"'],
    ['digits', '42', '42'],
    ['a JSON file', loaded('a.json', { m: 55 }, '{"m":55.0}'), '{"m": 55}'],
    ['a JSON file of one text', loaded('a.json', 'calm', '"calm"'), 'calm'],
    ['a text file that is JSON', loaded('a.txt', { m: 55 }, '{"m":55.0}'), '{"m": 55}'],
    ['a text file of one JSON text', loaded('a.txt', 'calm', '"calm"'), '"calm"'],
    ['a JSON5 file', loaded('a.json', { m: 5 }, '{m: 5,}'), '{m: 5,}'],
    ['a .jsonl file of one line', loaded('a.jsonl', [{ a: 1 }], '{"a":1}\n'), '{"a":1}\n'],
    ['a glob', [loaded('a.txt', 'one', 'one'), loaded('b.txt', 'two', 'two')], 'one\n\ntwo'],
    ['a command result', annotate({ a: 1, b: 2 }, { text: '{"a":1,"b":2}' }), '{\n  "a": 1,\n  "b": 2\n}'],
  ])('prints %s', (_, value, text) => {
    expect(showText(value)).toBe(text);
  });

  it('lays out JSON that reads back as itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(layoutJson(plain as Value))).toEqual(plain);
        expect(JSON.parse(indentedJson(plain as Value))).toEqual(plain);
      }),
    );
  });

  it('returns a shown layout unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = showText(value as Value);
        expect(showText(once)).toBe(once);
      }),
    );
  });

  it('always expands what goes into files', () => {
    expect(indentedJson({ a: 1 })).toBe('{\n  "a": 1\n}');
    expect(indentedJson([annotate('x', { labels: ['l'] })])).toBe('[\n  "x"\n]');
  });
});

describe('a buffered document', () => {
  it.each([
    ['leading line ends and blanks at line ends', '\n\na  \t\n', 'a\n'],
    ['lines', 'a\nb', 'a\n\nb\n'],
    ['headings', 'a\n# T\nb', 'a\n\n# T\n\nb\n'],
    ['wide gaps', 'a\n\n\n\nb', 'a\n\nb\n'],
    ['JSON', '{\n  "a": [\n    1\n  ]\n}', '{\n  "a": [\n    1\n  ]\n}\n'],
    ['lists', 'a\n- b\n- c\n  d', 'a\n- b\n- c\n  d\n'],
    ['fences', '```\na\n\n\nb  \n```\nc', '```\na\n\n\nb  \n```\n\nc\n'],
    ['tables', '| a |\n|---|\n| b |', '| a |\n|---|\n| b |\n'],
    ['frontmatter', '---\na: 1\nb: 2\n---\nc', '---\na: 1\nb: 2\n---\n\nc\n'],
    ['a rule that is no frontmatter', 'a\n---\nb', 'a\n---\n\nb\n'],
    ['nothing', '', '\n'],
  ])('normalises %s', (_, text, expected) => {
    expect(normaliseDocument(text)).toBe(expected);
  });

  it('is normal already when it was normalised', () => {
    const lines = fc.array(fc.constantFrom('', 'a', 'b {', '# T', '- x', '  y', '```', '| c |', '}'), { maxLength: 12 });
    fc.assert(
      fc.property(lines, (parts) => {
        const once = normaliseDocument(parts.join('\n'));
        expect(normaliseDocument(once)).toBe(once);
      }),
    );
  });
});
