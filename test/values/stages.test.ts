import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTransformer, transformers } from '../../src/values/methods/transformers.js';
import { textOf } from '../../src/values/text.js';
import { annotate, dataOf, labelsOf, type Value } from '../../src/values/value.js';
import { errorMarker } from '../../src/values/kinds/marker.js';

async function pipe(value: Value, stage: string): Promise<Value> {
  const transformer = findTransformer(stage);
  if (!transformer) throw new Error(`no stage ${stage}`);
  return transformer(value, []);
}

const loose = "{id: 7, 'name': 'Una', list: [1,2,], // note\n hex: 0x10, plus: +1, dot: .5}";

describe('stages that give data', () => {
  it.each<[string, Value, Value]>([
    ['upper', 'fog', 'FOG'],
    ['UPPER', 'fog', 'FOG'],
    ['lower', ['b', 'A'], ['b', 'a']],
    ['upper', { key: 'Val' }, { KEY: 'VAL' }],
    ['upper', true, 'TRUE'],
    ['trim', '  x ', 'x'],
    ['trim', ' {"a":1} ', { a: 1 }],
    ['parse', '{"id": 7}', { id: 7 }],
    ['parse', loose, { id: 7, name: 'Una', list: [1, 2], hex: 16, plus: 1, dot: 0.5 }],
    ['parse.loose', '[1,]', [1]],
    ['parse.strict', '{"id": 8}', { id: 8 }],
    ['parse', '41', 41],
    ['parse', { a: 1 }, { a: 1 }],
    ['json', '[1]', [1]],
    ['json.strict', '[1]', [1]],
    ['JSON', '[1]', [1]],
    ['parse.fromlist', 'apples\n\n  pears  \r\nplums', ['apples', '  pears', 'plums']],
    ['sort', ['pear', 'apple'], ['apple', 'pear']],
    ['sort', [3, 10, 2], [10, 2, 3]],
    ['sort', 'pear\napple', 'apple\npear'],
    ['sort', '["b","a"]', ['a', 'b']],
    ['typeof', 'x', 'string'],
    ['typeof', [1], 'array'],
    ['typeof', annotate(null, { labels: ['l'] }), 'null'],
    ['keep', { a: 1 }, { a: 1 }],
    ['exists', null, true],
    ['exists', undefined, false],
    ['md', '# T\na  \nb', '# T\n\na\n\nb\n'],
  ])('@%s of %j', async (stage, value, result) => {
    expect(dataOf(await pipe(value, stage))).toEqual(result);
  });

  it('sorts the keys of an object, at the top only', async () => {
    expect(JSON.stringify(await pipe({ b: { z: 1, a: 2 }, a: 1 }, 'sort'))).toBe('{"a":1,"b":{"z":1,"a":2}}');
  });

  it('makes indented text views, and leaves other text alone', async () => {
    const pretty = await pipe({ a: 1, b: [2] }, 'pretty');
    expect([textOf(pretty), dataOf(pretty)]).toEqual(['{\n  "a": 1,\n  "b": [\n    2\n  ]\n}', { a: 1, b: [2] }]);
    expect(textOf(await pipe('{"z":{"y":1}}', 'pretty'))).toBe('{\n  "z": {\n    "y": 1\n  }\n}');
    expect(await pipe('plain', 'pretty')).toBe('plain');
  });

  it.each(['upper', 'parse', 'parse.llm', 'xml', 'csv', 'pretty', 'sort', 'keep'])('keeps labels through @%s', async (stage) => {
    expect(labelsOf(await pipe(annotate('[1, {"a": 2}]', { labels: ['secret'] }), stage))).toEqual(['secret']);
  });

  it('takes labels of arguments', async () => {
    expect(labelsOf(await transformers['upper']?.('a', [annotate('b', { labels: ['pii'] })]))).toEqual(['pii']);
  });

  it('knows only its own names', () => {
    expect(['sparkle', 'constructor', 'parse.sparkle'].map(findTransformer)).toEqual([undefined, undefined, undefined]);
  });
});

describe('@parse', () => {
  it.each([
    ['parse', 'not json'],
    ['parse.strict', "{'a': 1}"],
    ['parse.loose', '{a b}'],
    ['json', ''],
  ])('@%s of %j fails by its name', async (stage, text) => {
    await expect((async () => pipe(text, stage))()).rejects.toMatchObject({
      code: 'PARSE_FAILED',
      message: expect.stringContaining(`@${stage}:`),
    });
  });

  it('reads back every JSON text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (text) => {
        expect(dataOf(await pipe(text, 'parse'))).toEqual(JSON.parse(text));
        expect(dataOf(await pipe(text, 'parse.strict'))).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('@parse.llm', () => {
  it.each<[string, string, Value]>([
    ['a fence', 'Sure!\n```json\n{"n": 5, "l": [1]}\n```\nBye', { n: 5, l: [1] }],
    ['a fence without a mark', 'So:\n```\n[1, 2]\n```', [1, 2]],
    ['the json fence before another', '```\n[0, 0]\n```\n```json\n[1, 2]\n```', [1, 2]],
    ['relaxed JSON in a sentence', "The answer is {'city': 'Vik',} I think", { city: 'Vik' }],
    ['a list in a sentence', 'Picked: [4, 5] today', [4, 5]],
    ['nothing', 'I cannot say.', null],
    ['braces that are no JSON', 'bad {a b c} x', null],
    ['braces that promise and are no JSON', 'bad {a, b c} x', null],
    ['an empty object', '{}', null],
    ['one element', 'see [4]', null],
    ['an object before a list', '[1, {"a": 2}]', { a: 2 }],
    ['an empty text', '', null],
  ])('finds in %s', async (_, text, value) => {
    expect(dataOf(await pipe(text, 'parse.llm'))).toEqual(value);
  });
});

describe('@xml', () => {
  it.each<[string, Value, string]>([
    ['an object', { shipName: 'A & B', 'gross-tons': 8, 'home  port': 'Vik', gone: null }, '<SHIP_NAME>A &amp; B</SHIP_NAME>\n<GROSS_TONS>8</GROSS_TONS>\n<HOME_PORT>Vik</HOME_PORT>'],
    ['nested values', { crew: [{ id: 1 }, 'Bo'], none: {}, empty: [] }, '<CREW>\n  <ITEM>\n    <ID>1</ID>\n  </ITEM>\n  <ITEM>Bo</ITEM>\n</CREW>\n<NONE />\n<EMPTY>\n</EMPTY>'],
    ['a list', [1, { k: 'v' }], '<ROOT>\n  <ITEM>1</ITEM>\n  <ITEM>\n    <K>v</K>\n  </ITEM>\n</ROOT>'],
    ['a number', 5, '<DOCUMENT>5</DOCUMENT>'],
    ['JSON text', '{"a":"<b>"}', '<A>&lt;b&gt;</A>'],
    ['text', 'just text', '<DOCUMENT>\njust text\n</DOCUMENT>'],
    ['odd keys', { '_a.b!': 1, HTTPServer: 2, '': 3 }, '<A_B>1</A_B>\n<HTTPSERVER>2</HTTPSERVER>\n<ITEM>3</ITEM>'],
    ['headings', '# Birds\nall\n## Gulls\nloud\n# Seals', '<BIRDS>\nall\n  <GULLS>\nloud\n  </GULLS>\n</BIRDS>\n<SEALS>\n</SEALS>'],
    ['text before headings', '\nintro\n\n## Low\n\n  a\n\nb\n# High', 'intro\n<LOW>\n  a\n\nb\n</LOW>\n<HIGH>\n</HIGH>'],
    ['a heading in a fence', '# Code\n```\n# no\n```', '<CODE>\n```\n# no\n```\n</CODE>'],
  ])('of %s', async (_, value, xml) => {
    expect(await pipe(value, 'xml')).toBe(xml);
  }); // prettier-ignore
});

describe('@csv', () => {
  it.each<[string, Value, string]>([
    ['rows', [{ bay: 'A', note: 'x,y' }, { bay: 'B', note: 'say "hi"' }, { bay: 'C', other: 1 }, { bay: 'D\n', note: null }], 'bay,note\nA,"x,y"\nB,"say ""hi"""\nC,\n"D\n",'],
    ['rows of which the first failed', [errorMarker({ index: 0, key: '0', message: 'no', value: 'A' }), { bay: 'B' }], 'bay\n\nB'],
    ['an object', { a: 1, b: 'two' }, 'a,b\n1,two'],
    ['nothing', [], ''],
    ['a nested value', [{ a: { b: 1 } }], 'a\n"{""b"":1}"'],
    ['a table', 'intro\n| h1 | h2 |\n|---|:-:|\n| a, b | c \\| d |', 'h1,h2\n"a, b",c | d'],
    ['other text', 'plain, text', 'plain, text'],
  ])('of %s', async (_, value, csv) => {
    expect(await pipe(value, 'csv')).toBe(csv);
  }); // prettier-ignore
});
