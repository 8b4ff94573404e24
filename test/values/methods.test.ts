import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Argument } from '../../src/values/methods/arguments.js';
import { appendTo } from '../../src/values/append.js';
import { callMethod, isMethod } from '../../src/values/methods/methods.js';
import { closest } from '../../src/values/suggest.js';
import { annotate, type Data, labelsOf, type Value } from '../../src/values/value.js';

const at = { written: '@x' };
const call = (value: Value, name: string, ...args: Argument[]): Value => callMethod(value, name, args, at);

describe('methods of texts', () => {
  it.each<[Value, string, Argument[], Value]>([
    ['abc', 'length', [], 3],
    ['Harbour', 'includes', ['our'], true],
    ['Harbour', 'startsWith', ['h'], false],
    ['Harbour', 'endsWith', ['r'], true],
    ['Harbour', 'indexOf', ['zz'], -1],
    ['a1', 'includes', [1], true],
    [' x ', 'trim', [], 'x'],
    ['Harbour light', 'slice', [-5, -2], 'lig'],
    ['Harbour light', 'slice', ['8'], 'light'],
    ['Harbour', 'substring', [3, -1], 'Har'],
    ['Harbour', 'substr', [-3, 2], 'ou'],
    ['Harbour', 'substr', [3], 'bour'],
    ['una;bo', 'split', [';'], ['una', 'bo']],
    ['ab', 'split', [''], ['a', 'b']],
    ['ab', 'split', [], ['a', 'b']],
    ['a1b22', 'split', [/\d+/], ['a', 'b', '']],
    ['a-b-c', 'replace', ['-', '+'], 'a+b-c'],
    ['a-b-c', 'replaceAll', ['-', '+'], 'a+b+c'],
    ['a1-b22', 'replace', [/[0-9]+/, '#'], 'a#-b22'],
    ['a1-b22', 'replaceAll', [/[0-9]+/, '#'], 'a#-b#'],
    ['aAa', 'replaceAll', [/a/i, '-'], '---'],
    ['v1.2', 'replace', [/(\d)\.(\d)/, '$2.$1'], 'v2.1'],
    ['a1-b22', 'replaceAll', [{ a: 'A', '-': '/', '2': 2 }], 'A1/b22'],
    ['a', 'replaceAll', [{ a: '$&' }], '$&'],
    ['v12.3', 'match', ['([0-9]+)\\.([0-9]+)'], ['12.3', '12', '3']],
    ['v12.3', 'match', [/[0-9]/], ['1']],
    ['v12.3', 'match', [/[0-9]/g], ['1', '2', '3']],
    ['b', 'match', ['(a)?b'], ['b', null]],
    ['v12.3', 'match', ['zzz'], null],
    ['7', 'padStart', [3, '0'], '007'],
    ['7', 'padStart', [3], '  7'],
    ['7', 'padEnd', [3, '*'], '7**'],
    ['7', 'repeat', [3], '777'],
  ])('%j.%s(%j) is %j', (text, name, args, result) => {
    expect(call(text, name, ...args)).toEqual(result);
  });

  it('agree with those of the host', () => {
    const bounds = fc.integer({ min: -20, max: 20 });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '-', ' ', 'ü', '🚢') }),
        bounds,
        bounds,
        fc.constantFrom('', 'a', 'b-', '🚢'),
        (text, a, b, part) => {
          expect(call(text, 'slice', a, b)).toBe(text.slice(a, b));
          expect(call(text, 'substring', a, b)).toBe(text.substring(a, b));
          expect(call(text, 'substr', a, b)).toBe(text.substr(a, b));
          expect(call(text, 'indexOf', part)).toBe(text.indexOf(part));
          expect(call(text, 'replaceAll', part, 'x')).toBe(text.replaceAll(part, 'x'));
          expect(call(text, 'padStart', a, part)).toBe(text.padStart(a, part));
          expect((call(text, 'split', part) as string[]).join(part)).toBe(text);
        },
      ),
    );
  });
});

describe('methods of arrays', () => {
  const item = { a: 1 };
  it.each<[Value, string, Argument[], Value]>([
    [[1, 2], 'length', [], 2],
    [[3, 1, 2], 'includes', [2], true],
    [[3, 1, 2], 'includes', ['2'], false],
    [[item], 'includes', [item], true],
    [[item], 'includes', [{ a: 1 }], false],
    [[3, null], 'indexOf', [null], 1],
    [[3, 1], 'indexOf', [7], -1],
    [[1, null, 'a'], 'join', [], '1,,a'],
    [[1, 2], 'join', [''], '12'],
    [[[1], { a: 2 }], 'join', [' '], '[1] {"a":2}'],
    [[3, 1, 2], 'slice', [-2, -1], [1]],
    [[1], 'concat', [[2, [3]], 4, null], [1, 2, [3], 4, null]],
    [[1, 2], 'reverse', [], [2, 1]],
    [[10, 9, 1, 100], 'sort', [], [1, 10, 100, 9]],
    [['b', 'B', 'a', '10', '9'], 'sort', [], ['10', '9', 'B', 'a', 'b']],
    [[1, [2, [3]]], 'flat', [], [1, 2, [3]]],
    [[1, [2, [3]]], 'flat', [2], [1, 2, 3]],
    [[1, 2], 'at', [-1], 2],
    [[1, 2], 'at', [5], null],
  ])('%j.%s(%j) is %j', (array, name, args, result) => {
    const before = JSON.stringify(array);
    expect(call(array, name, ...args)).toEqual(result);
    expect(JSON.stringify(array)).toBe(before);
  });

  it('slice and concat put together what was cut', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.integer({ min: -9, max: 9 }), (list, cut) => {
        const array = list as Value[];
        expect(call(call(array, 'slice', 0, cut), 'concat', call(array, 'slice', cut))).toEqual(array);
      }),
    );
  });
});

describe('methods of a loaded file of data', () => {
  const loaded = (data: Data, text: string): Value => annotate(data, { file: { absolute: '/p/a', relative: './a' }, text });

  it('are those of its raw text, unless the data has a member or method of the name', () => {
    expect(call(loaded({ depth: 7 }, '{"depth":   7}\n'), 'trim')).toBe('{"depth":   7}');
    expect(call(loaded({ depth: 7 }, '{"depth":   7}'), 'includes', '   7')).toBe(true);
    expect(call(loaded([1, 2], '1\n2\n'), 'split', '\n')).toEqual(['1', '2', '']);
    expect(call(loaded([12], '[12]'), 'includes', '12')).toBe(false);
    expect(() => call(loaded({ trim: 1 }, '{"trim":1}'), 'trim')).toThrow(expect.objectContaining({ code: 'UNKNOWN_METHOD' }));
    expect(() => call(annotate({ a: 1 }, { text: '{"a":1}' }), 'trim')).toThrow(expect.objectContaining({ code: 'UNKNOWN_METHOD' }));
  });
});

describe('type checks', () => {
  const checks = ['isString', 'isNumber', 'isBoolean', 'isNull', 'isArray', 'isObject', 'isDefined'];
  it.each<[string, Value, string[]]>([
    ['a text', '5', ['isString', 'isDefined']],
    ['a number', 5, ['isNumber', 'isDefined']],
    ['a boolean', false, ['isBoolean', 'isDefined']],
    ['null', null, ['isNull']],
    ['a list', [], ['isArray', 'isDefined']],
    ['an object', {}, ['isObject', 'isDefined']],
    ['an undefined name', undefined, []],
    ['a labelled text', annotate('x', { labels: ['l'] }), ['isString', 'isDefined']],
    ['a labelled null', annotate(null, { labels: ['l'] }), ['isNull']],
  ])('of %s', (_, value, holding) => {
    expect(checks.filter((check) => (call(value, check) as unknown as { data?: unknown }).data ?? call(value, check) === true)).toEqual(
      holding,
    );
  });
});

describe('calling methods', () => {
  it('returns the labels of the value and of the arguments', () => {
    const text = annotate('a-b', { labels: ['pii'] });
    expect(labelsOf(call(text, 'split', annotate('-', { labels: ['secret'] })))).toEqual(['pii', 'secret']);
    expect(labelsOf(call('a', 'replace', /a/, annotate('-', { labels: ['secret'] })))).toEqual(['secret']);
  });

  it.each<[Value, string, string | undefined]>([
    ['a', 'charAt', undefined],
    ['a', 'toUppercase', 'did you mean .toUpperCase()?'],
    ['a', 'toUpper', 'did you mean .toUpperCase()?'],
    ['a', 'strip', 'did you mean .trim()?'],
    [[1], 'len', 'did you mean .length()?'],
    [[1], 'upper', undefined],
    [[1], 'map', 'write `for @item in @list => …`'],
    [{ a: 1 }, 'keys', 'write `for @key, @value in @object => @key`'],
    ['a', 'concat', 'arrays have it'],
    [5, 'trim', 'texts have it'],
    [{ a: 1 }, 'includes', 'texts and arrays have it'],
    [null, 'trim', 'texts have it'],
    ['a', 'constructor', undefined],
  ])('%j.%s() is unknown', (value, name, hint) => {
    expect(() => call(value, name)).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_METHOD', message: expect.stringContaining(name), hint }),
    );
  });

  it.each<[string, () => unknown]>([
    ['concat', () => call(Array.from<Value>({ length: 5_000_001 }).fill(1), 'concat', Array.from<Value>({ length: 5_000_000 }).fill(1))],
    ['flat', () => call(Array.from<Value>({ length: 11 }).fill(Array.from<Value>({ length: 1_000_000 }).fill(1)), 'flat')],
    ['split', () => call('a'.repeat(10_000_001), 'split', '')],
    ['+=', () => appendTo(Array.from<Value>({ length: 10_000_000 }).fill(1), 1, 'x')],
  ])('refuses arrays that grow beyond measure: %s', (_name, grow) => {
    expect(grow).toThrow(expect.objectContaining({ code: 'ARRAY_TOO_LONG' }));
  });

  it('of an undefined name names it', () => {
    expect(() => callMethod(undefined, 'trim', [], { written: '@ghost' })).toThrow(/@ghost/);
  });

  it.each<[Value, string, Argument[]]>([
    ['a', 'includes', []],
    ['a', 'includes', [/a/]],
    ['a', 'replace', ['a']],
    ['a', 'slice', ['x']],
    ['a', 'match', ['(']],
    ['a', 'repeat', [-1]],
    ['a', 'repeat', [2 ** 40]],
    ['a', 'padEnd', [2 ** 40]],
    ['a', 'padStart', []],
    [[1], 'includes', [/a/]],
  ])('%j.%s(%j) refuses its argument by the name of the method', (value, name, args) => {
    expect(() => call(value, name, ...args)).toThrow(
      expect.objectContaining({ code: 'BAD_ARGUMENT', message: expect.stringContaining(`.${name}()`) }),
    );
  });

  it('knows the names', () => {
    expect(['trim', 'flat', 'isNull', 'length'].every(isMethod)).toBe(true);
    expect(['charAt', 'constructor', 'toString'].some(isMethod)).toBe(false);
  });
});

describe('suggestions', () => {
  const names = ['trim', 'upper', 'lower', 'parse'];
  it.each([
    ['tirm', 'trim'],
    ['uper', 'upper'],
    ['Parse', 'parse'],
    ['sparkle', undefined],
    ['x', undefined],
  ])('for %s: %s', (word, name) => {
    expect(closest(word, names)).toBe(name);
  });
});
