import vm from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson, jsonSize, NESTING_MAX, sha256 } from '../../journal/canonical.js';
import { exactJson } from '../../journal/exact-json.js';

/** With the members of every object sorted, as far as objects keep an order. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, member]) => [name, inOrder(member)]));
}

it('writes equal values equally, whatever the order of their members', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'ü' }], a: true, gone: undefined })).toBe('{"a":true,"b":[1,{"c":"ü","d":null}]}');
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.string(), fc.nat(20).map(String)), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      expect(canonicalJson(inOrder(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(exactJson(value)));
    }),
  );
});

const cycle: { self?: unknown } = {};
cycle.self = cycle;
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

it.each<[string, unknown, string]>([
  ['NaN', { a: NaN }, 'a is NaN'],
  ['infinity', [1, -Infinity], '1 is -Infinity'],
  ['a bigint', { a: { b: [0, 1n] } }, 'a.b.1 is a bigint'],
  ['a function', { f: () => 1 }, 'f is a function'],
  ['a function that would stand for the value', { toJSON: () => 1 }, 'toJSON is a function'],
  ['a symbol', Symbol('s'), 'the value is a symbol'],
  ['nothing at all', undefined, 'the value is undefined'],
  ['a hole', [undefined], '0 is undefined'],
  ['a map', new Map([[1, 2]]), 'the value is a Map'],
  ['a date', { when: new Date(0) }, 'when is a Date'],
  ['an error', new Error('x'), 'the value is a Error'],
])('refuses %s and says where', (_title, value, message) => {
  expect(() => canonicalJson(value)).toThrow(
    expect.objectContaining({ name: 'JournalError', code: 'NOT_JSON', message: expect.stringContaining(message) }),
  );
});

it.each([
  ['too many levels', nested(100_000)],
  ['itself', cycle],
])('tells %s from what JSON has no form for', (_title, value) => {
  expect(() => canonicalJson(value)).toThrow(
    expect.objectContaining({ code: 'NESTED_TOO_DEEPLY', message: expect.stringContaining(`deeper than ${NESTING_MAX} levels`) }),
  );
});

it('takes plain objects of other realms, objects without a prototype, and the deepest value that it allows', () => {
  expect(canonicalJson(vm.runInNewContext('({ b: [1], a: {} })'))).toBe('{"a":{},"b":[1]}');
  expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  expect(canonicalJson(nested(NESTING_MAX))).toBe('['.repeat(NESTING_MAX) + '1' + ']'.repeat(NESTING_MAX));
});

it('weighs a value by its text', () => {
  for (const value of ['', 'x'.repeat(1000), ['x'.repeat(50), 'y'], { name: 'x'.repeat(100) }]) {
    expect(Math.abs(jsonSize(value) - JSON.stringify(value).length)).toBeLessThan(8);
  }
});

it('writes the zero below zero, in the order of names and in its own', () => {
  expect(canonicalJson({ b: [-0, 0], a: -0 })).toBe('{"a":-0,"b":[-0,0]}');
  expect(exactJson({ b: [-0, 0], a: '-0', c: undefined })).toBe('{"b":[-0,0],"a":"-0"}');
  expect(JSON.parse(exactJson([-0]))).toEqual([-0]);
});

it('names data by its digest', () => {
  expect(sha256('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(sha256(Buffer.from('naïve'))).toBe(sha256('naïve'));
});
