import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { each, filterBy, type FilterOperator, HostFunction, readField, readIndex, slice } from '../../src/values/access.js';
import { Callable } from '../../src/values/kinds/callable.js';
import { annotate, dataOf, HostObject, labelsOf, metadataOf, sourcesOf, type Value } from '../../src/values/value.js';

class Fetch extends Callable {
  readonly name = 'fetch';
  readonly params = [];
  readonly labels = [];
}

const at = { written: '@o' };
const words = { en: { hi: 'hello' }, n: null, length: 'long', '7': 'seven' };

function failure(action: () => unknown): { code: string; message: string; hint: string | undefined } {
  try {
    action();
  } catch (error) {
    return error as { code: string; message: string; hint: string | undefined };
  }
  throw new Error('did not fail');
}

describe('fields', () => {
  it.each<[Value, string, Value]>([
    [words, 'en', { hi: 'hello' }],
    [words, 'length', 'long'],
    [words, 'zz', null],
    [words, 'n', null],
    [words, 'toString', null],
    [{}, '__proto__', null],
    [JSON.parse('{"__proto__": 1}') as Value, '__proto__', 1],
    [null, 'x', null],
    ['abc', 'length', 3],
    [[1, 2], 'length', 2],
    [[1, 2], '1', 2],
    [[1, 2], '2', null],
  ])('%j.%s is %j', (base, name, value) => {
    expect(readField(base, name, at)).toEqual(value);
  });

  it('carry the labels of what they were read from, and their own', () => {
    const base = annotate({ k: annotate('v', { labels: ['own'] }), m: 'w' }, { labels: ['secret'], sources: ['src:js'], text: '{}' });
    expect(labelsOf(readField(base, 'k', at))).toEqual(['secret', 'own']);
    const other = readField(base, 'm', at);
    expect([labelsOf(other), sourcesOf(other), metadataOf(other)?.text]).toEqual([['secret'], ['src:js'], undefined]);
  });

  it('of texts, numbers and functions are errors that name the field, of lists null', () => {
    expect(failure(() => readField('abc', 'colour', at))).toMatchObject({
      code: 'NO_FIELDS',
      message: '@o: a text has no field "colour"',
      hint: undefined,
    });
    expect(failure(() => readField(5, 'depth', at)).message).toContain('depth');
    expect(failure(() => readField(true, 'depth', at)).message).toContain('boolean');
    expect(readField([1], 'id', at)).toBe(null);
    expect(failure(() => readField(new Fetch(), 'id', at)).hint).toContain('call it');
  });

  it('of JSON text advise @parse, of a text before a file ending the backslash', () => {
    expect(failure(() => readField(' {"a": 1}', 'a', at)).hint).toContain('@parse');
    expect(failure(() => readField('chart', 'json', { written: '@stem' })).hint).toContain('@stem\\.json');
    expect(failure(() => readField('chart', 'svg', { written: '@stem' })).hint).toContain('@stem\\.svg');
  });

  it('of host objects are values of ours, methods bound to their object', () => {
    const url = new HostObject(new URL('https://harbour.example/berths?id=4'));
    expect(readField(url, 'hostname', at)).toBe('harbour.example');
    expect(readField(url, 'nothing', at)).toBe(null);
    expect(readField(url, 'searchParams', at)).toBeInstanceOf(HostObject);
    const method = readField(url, 'toString', at);
    expect(method).toBeInstanceOf(HostFunction);
    expect((method as HostFunction).apply([])).toBe('https://harbour.example/berths?id=4');
  });
});

describe('fields of what was loaded', () => {
  const file = { absolute: '/p/a', relative: './a' };
  const json = annotate({ depth: 7 }, { file, text: '{"depth":   7}' });

  it('.text and .data of a text are the text, with its labels', () => {
    const text = annotate('reef', { file, labels: ['l'] });
    expect(dataOf(readField(text, 'text', at))).toBe('reef');
    expect(labelsOf(readField(text, 'text', at))).toEqual(['l']);
    expect(dataOf(readField(annotate('plain', { sources: ['src:js'] }), 'data', at))).toBe('plain');
    expect(failure(() => readField(text, 'name', at)).code).toBe('NO_FIELDS');
    expect(failure(() => readField('literal', 'text', at)).code).toBe('NO_FIELDS');
  });

  it('.length of data that has no such member is that of the raw text', () => {
    expect(readField(json, 'length', at)).toBe(14);
    expect(readField(annotate({ length: 2 }, { file, text: '{"length":2}' }), 'length', at)).toBe(2);
    expect(readField(annotate([1, 2], { file, text: '[1, 2]' }), 'length', at)).toBe(2);
    expect(readField(json, 'text', at)).toBe(null);
  });
});

describe('indexes', () => {
  it.each<[Value, Value, Value]>([
    [['a', 'b'], 1, 'b'],
    [['a', 'b'], '1', 'b'],
    [['a', 'b'], annotate(1, { labels: ['l'] }), 'b'],
    [['a', 'b'], -1, null],
    [['a', 'b'], 9, null],
    [['a', 'b'], 'length', 2],
    [words, 7, 'seven'],
    [words, '7', 'seven'],
    [words, '8', null],
    [words, 'mx', null],
    [null, 3, null],
    [null, 'x', null],
  ])('%j[%j] is %j', (base, index, value) => {
    expect(readIndex(base, index, at)).toEqual(value);
  });

  it('into texts, numbers and objects without that key are errors', () => {
    expect(failure(() => readIndex('abc', 47, at))).toMatchObject({ code: 'NO_ELEMENTS', message: expect.stringContaining('47') });
    expect(failure(() => readIndex(5, 0, at)).code).toBe('NO_ELEMENTS');
    expect(failure(() => readIndex({}, 0, at)).code).toBe('NO_ELEMENTS');
  });

  it('must be defined, and no list', () => {
    expect(failure(() => readIndex([1], undefined, { written: '@l[@ghost]' }))).toMatchObject({
      code: 'UNDEFINED_INDEX',
      message: expect.stringContaining('ghost'),
    });
    expect(failure(() => readIndex([1], [0], at)).code).toBe('BAD_INDEX');
  });

  it('leave loaded files what is known about them', () => {
    const file = { absolute: '/p/a.txt', relative: './a.txt' };
    const glob = annotate([annotate('one', { file })], { labels: ['l'] });
    const first = readIndex(glob, 0, at);
    expect([metadataOf(first)?.file, labelsOf(first)]).toEqual([file, ['l']]);
  });
});

describe('slices', () => {
  const digits = [0, 1, 2, 3, 4, 5];
  it.each<[Value, Value, Value]>([
    [1, 3, [1, 2]],
    [undefined, 2, [0, 1]],
    [4, undefined, [4, 5]],
    [-2, undefined, [4, 5]],
    [undefined, -1, [0, 1, 2, 3, 4]],
    [2, 2, []],
    [5, 1, []],
    [10, undefined, []],
    ['1', annotate(3, { labels: ['l'] }), [1, 2]],
  ])('[%j:%j] is %j', (from, to, part) => {
    expect(slice(digits, from, to)).toEqual(part);
  });

  it('put together what they cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: -12, max: 12 }), (list, cut) => {
        const parts = [...(slice(list, undefined, cut) as number[]), ...(slice(list, cut, undefined) as number[])];
        expect(parts).toEqual(list);
      }),
    );
  });

  it('need whole numbers, and a list', () => {
    expect(failure(() => slice(digits, 'x', undefined)).code).toBe('BAD_INDEX');
    expect(failure(() => slice(digits, 0.5, undefined)).code).toBe('BAD_INDEX');
    expect(failure(() => slice({ a: 1 }, 0, 1)).code).toBe('NO_ELEMENTS');
    expect(slice(null, 0, 1)).toBe(null);
    expect(labelsOf(slice(annotate(digits, { labels: ['l'] }), 0, 1))).toEqual(['l']);
  });
});

describe('filters', () => {
  const crew = [{ n: 'Una', age: 30, ok: true, at: { x: 1 } }, { n: 'Bo', age: '41', ok: false }, { n: 'Zed', age: 25 }, 'text'];
  it.each<[string, FilterOperator | undefined, Value, readonly string[]]>([
    ['ok', undefined, undefined, ['Una']],
    ['captain', undefined, undefined, []],
    ['age', '>', 28, ['Una', 'Bo']],
    ['age', '<=', 30, ['Una', 'Zed']],
    ['age', '>=', 30, ['Una', 'Bo']],
    ['age', '<', 26, ['Zed']],
    ['n', '=', 'Una', ['Una']],
    ['age', '==', 41, ['Bo']],
    ['n', '~', 'e', ['Zed']],
    ['at.x', '==', 1, ['Una']],
  ])('[?%s %s %j]', (field, operator, literal, names) => {
    expect(each(filterBy(crew, field.split('.'), operator, literal))?.map((element) => (element as { n: string }).n)).toEqual(names);
  });

  it('!= keeps elements without the field', () => {
    expect(filterBy(crew, ['age'], '!=', 30)).toEqual([crew[1], crew[2], 'text']);
  });

  it('carry labels, and need a list', () => {
    expect(labelsOf(filterBy(annotate(crew, { labels: ['pii'] }), ['ok'], undefined, undefined))).toEqual(['pii']);
    expect(failure(() => filterBy('x', ['ok'], undefined, undefined)).message).toContain('[?ok]');
  });
});

describe('[*]', () => {
  it('goes through lists only', () => {
    expect(each(annotate([1, 2], { labels: ['l'] }))).toEqual([1, 2]);
    expect(each(null)).toBe(null);
    expect(failure(() => each({ a: 1 })).message).toContain('[*]');
    expect(failure(() => each('abc')).message).toContain('[*]');
  });
});
