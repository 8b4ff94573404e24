import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendTo } from '../../src/values/append.js';
import { errorMarker, isErrorMarker } from '../../src/values/kinds/marker.js';
import { toNumber } from '../../src/values/numbers.js';
import { binary, looseEquals, type StrictOperator } from '../../src/values/operators.js';
import { isTruthy } from '../../src/values/truth.js';
import { annotate, dataOf, labelsOf, type Value } from '../../src/values/value.js';

const shared = { a: 1 };
const anyValue = fc.jsonValue() as fc.Arbitrary<Value>;

describe('truth', () => {
  it.each<[Value]>([[''], ['0'], ['false'], ['FALSE'], ['NaN'], ['nan'], [0], [-0], [NaN], [false], [null], [undefined], [[]], [{}]])(
    '%j is false',
    (value) => {
      expect(isTruthy(value)).toBe(false);
      if (value !== undefined) expect(isTruthy(annotate(dataOf(value), { labels: ['l'] }))).toBe(false);
    },
  );

  it.each<[Value]>([
    [' '],
    ['00'],
    ['0.0'],
    ['no'],
    ['null'],
    ['undefined'],
    [-1],
    [Infinity],
    [[0]],
    [{ a: null }],
    [true],
    ['wrong'],
    ['tea'],
  ])('%j is true', (value) => {
    expect(isTruthy(value)).toBe(true);
  });

  it('refuses the error of a failed iteration, wherever it is read from', () => {
    const list = [10, errorMarker({ index: 1, key: '1', message: 'bad 2', value: 2 })];
    expect(list[1]).toEqual({ index: 1, key: '1', message: 'bad 2', error: 'bad 2', value: 2 });
    expect(JSON.stringify(list[1])).toBe('{"index":1,"key":"1","message":"bad 2","error":"bad 2","value":2}');
    expect(isErrorMarker(list[1])).toBe(true);
    expect(isErrorMarker(annotate(list[1] ?? null, { labels: ['l'] }))).toBe(true);
    expect(isErrorMarker({ ...(list[1] as object) })).toBe(false);
    expect(isErrorMarker({ message: 'x' })).toBe(false);
    expect(() => isTruthy(list[1])).toThrow(
      expect.objectContaining({ code: 'CONDITION_IS_ERROR', message: expect.stringContaining('bad 2') }),
    );
  });
});

describe('numbers', () => {
  it.each<[Value, number]>([
    ['2.5', 2.5],
    [' 5 ', 5],
    ['1e3', 1000],
    ['0x10', 16],
    ['', 0],
    ['true', 1],
    [' false ', 0],
    ['x', NaN],
    [true, 1],
    [null, 0],
    [undefined, NaN],
    [[1], NaN],
    [{}, NaN],
  ])('%j is %d', (value, number) => {
    expect(toNumber(value)).toBe(number);
  });
});

describe('operators', () => {
  it.each<[Value, StrictOperator, Value, Value]>([
    ['5', '+', '3', 8],
    ['', '+', 1, 1],
    ['a', '+', 3, NaN],
    ['a', '+', '3', NaN],
    [7, '/', 2, 3.5],
    [1, '/', 0, Infinity],
    [-7, '%', 3, -1],
    [null, '+', true, 1],
    ['x', '*', 2, NaN],
    [[1], '+', 1, NaN],
    ['7', '-', 2, 5],
    ['2', '==', 2, true],
    ['1.0', '==', 1, true],
    [true, '==', 'true', true],
    [true, '==', 1, false],
    [null, '==', 0, false],
    [null, '==', '', false],
    [null, '==', undefined, true],
    ['', '==', 0, true],
    ['5', '==', '5.0', false],
    ['a', '==', ['a'], false],
    [[1, 2], '==', ['1', '2'], true],
    [[1, 2], '==', [2, 1], false],
    [[1, [2]], '==', [1, [2]], true],
    [shared, '==', shared, true],
    [shared, '==', { a: 1 }, false],
    [NaN, '==', NaN, false],
    [1, '!=', 2, true],
    ['10', '>', '9', true],
    ['b', '>', 'a', false],
    ['2024-01-02', '>', '2024-01-01', false],
    [3, '>=', 3, true],
    [null, '<', 1, true],
    [[5], '>', 1, false],
    ['5', '<=', 5, true],
  ])('%j %s %j is %j', (left, operator, right, result) => {
    expect(binary(operator, left, right)).toEqual(result);
  });

  it.each<[Value, Value, boolean]>([
    ['una@hof', ['una@hof'], true],
    [['b', 'a'], ['a', 'b'], true],
    [['a'], ['a', 'b'], true],
    [['a', 'b'], ['a'], false],
    [['a', 'c'], ['a', 'b'], false],
    ['a, b', ['b', 'a'], true],
    ['null', [], true],
    [null, [], true],
    [null, null, true],
    [['a'], [], false],
    [null, ['a'], false],
    ['11', 11, true],
    [[11], '11', true],
    [[11, 12], 11, false],
    [true, [true], true],
    [true, 'true', false],
    ['x', 'X', false],
    [['a', 'a'], ['a'], false],
    [['a', 'a'], ['a', 'a'], true],
    [[1, '1'], [1, '1.0'], true],
    ['', 0, false],
  ])('%j ~= %j is %j', (actual, expected, result) => {
    expect(binary('~=', actual, expected)).toBe(result);
    expect(binary('!~=', actual, expected)).toBe(!result);
  });

  it('adds no texts, and says what to write instead', () => {
    const both = expect.objectContaining({ code: 'TEXTS_ADDED', hint: expect.stringContaining('template') });
    expect(() => binary('+', 'tram', 'stop')).toThrow(both);
    expect(() => binary('+', annotate('tram', { labels: ['l'] }), 'stop')).toThrow(both);
  });

  it('returns the labels of both sides', () => {
    const sum = binary('+', annotate(1, { labels: ['pii'] }), annotate(2, { labels: ['secret', 'pii'] }));
    expect(labelsOf(sum)).toEqual(['pii', 'secret']);
    expect(labelsOf(binary('==', 1, annotate(2, { labels: ['secret'] })))).toEqual(['secret']);
  });

  it('finds equality the same from both sides', () => {
    fc.assert(fc.property(anyValue, anyValue, (a, b) => looseEquals(a, b) === looseEquals(b, a)));
  });

  it('compares as the numbers do', () => {
    fc.assert(fc.property(fc.double(), fc.double(), (a, b) => binary('<', String(a), b) === a < b && binary('>=', a, b) === a >= b));
  });
});

describe('+=', () => {
  it.each<[Value, Value, Value]>([
    [1, 2, 3],
    [1, '4', 5],
    [1, null, 1],
    ['tram-', 9, 'tram-9'],
    ['l=', ['a'], 'l=["a"]'],
    [['a'], 'b', ['a', 'b']],
    [['a'], ['b', 'c'], ['a', 'b', 'c']],
    [['a'], [['b']], ['a', ['b']]],
    [
      { a: 1, n: { p: 1 } },
      { b: 2, n: { q: 2 } },
      { a: 1, n: { q: 2 }, b: 2 },
    ],
  ])('%j += %j is %j', (current, added, result) => {
    const before = JSON.stringify(current);
    expect(appendTo(current, added, 'x')).toEqual(result);
    expect(JSON.stringify(current)).toBe(before);
  });

  it.each<[Value, Value]>([
    [1, 'many'],
    [true, 1],
    [null, 1],
    [undefined, 1],
    [{ a: 1 }, [1]],
    [{ a: 1 }, 'b'],
  ])('%j += %j names the variable', (current, added) => {
    expect(() => appendTo(current, added, 'cargo')).toThrow(
      expect.objectContaining({ code: 'APPEND_KIND', message: expect.stringMatching(/@cargo \+=/) }),
    );
  });

  it('moves labels of what is put in to the collection', () => {
    const list = appendTo(annotate(['a'], { labels: ['pii'] }), annotate('b', { labels: ['secret'] }), 'l');
    expect(labelsOf(list)).toEqual(['pii', 'secret']);
    expect(JSON.stringify(list)).toBe('["a","b"]');
    expect(labelsOf((list as unknown as { data: Value[] }).data[1])).toEqual([]);
  });
});
