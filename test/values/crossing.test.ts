import vm from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Callable } from '../../src/values/kinds/callable.js';
import { HostFunction } from '../../src/values/kinds/host-function.js';
import { readField } from '../../src/values/access.js';
import { kept } from '../../src/values/keep-metadata.js';
import { commandText, fromExport, fromHost, fromNative, shellText, toJson, toNative } from '../../src/values/native.js';
import { parseResult, resultOfCode } from '../../src/values/results.js';
import { textOf } from '../../src/values/text.js';
import { annotate, dataOf, HostObject, type Value } from '../../src/values/value.js';

class Fetch extends Callable {
  readonly name = 'fetch';
  readonly params = ['url'];
  readonly labels = [];
}

const secret = (data: Value): Value => annotate(dataOf(data), { labels: ['secret'] });

describe('into code', () => {
  it('goes a copy without notes', () => {
    const list = [1, { deep: ['x'] }];
    const given = { list, pin: secret('4411'), call: new Fetch(), none: null };
    const native = toNative(secret(given)) as { list: [number, { deep: string[] }] };
    expect(native).toEqual({ list: [1, { deep: ['x'] }], pin: '4411', call: '<function(url)>', none: null });
    native.list[1].deep.push('changed');
    expect(list).toEqual([1, { deep: ['x'] }]);
  });

  it('goes undefined as undefined, and a host object as itself', () => {
    const url = new URL('http://a.example');
    expect(toNative(undefined)).toBe(undefined);
    expect(toNative(new HostObject(url))).toBe(url);
  });

  it('goes what was kept as its data, its raw text, its type and its metadata', () => {
    const loaded = (data: Value, name: string, text?: string): Value =>
      annotate(dataOf(data), { file: { absolute: `/p/${name}`, relative: `./${name}` }, ...(text === undefined ? {} : { text }) });
    type Seen = object & { data: unknown; text: string; type: string; mx: { filename: string } };
    const seen = (value: Value): Seen => toNative(kept(value)) as Seen;
    const [ship, text] = [loaded({ text: 'own', tons: 80 }, 'tern.json', '{"tons":   80}'), loaded('wind', 'log.txt')];
    expect(seen(ship)).toMatchObject({ data: { text: 'own', tons: 80 }, text: '{"tons":   80}', type: 'object' });
    expect(seen(text)).toMatchObject({ data: 'wind', text: 'wind', type: 'text', mx: { filename: 'log.txt' } });
    expect(`${String(seen(ship))}, ${String(seen(text))}`).toBe('{"tons":   80}, wind');
    expect(Object.keys(seen(text))).toEqual(['data', 'text', 'type', 'mx']);
    expect((seen([ship, 1]) as unknown as Seen[])[0]?.mx.filename).toBe('tern.json');
    expect(toNative(ship)).not.toHaveProperty('mx');
    expect(kept(secret('4411'))).toEqual(secret('4411'));
    expect(readField(ship, 'keep', { written: '@f' })).toEqual(kept(ship));
    expect(readField({ keep: 1 }, 'keep', { written: '@o' })).toBe(1);
  });

  it('come exports of a Node module with their functions, and without what goes in a circle', () => {
    const kit = { sep: '/', nothing: undefined, self: {} as object, inner: { twice: (n: number) => n * 2 }, own(): string { return this.sep; } }; // prettier-ignore
    kit.self = kit;
    const value = fromExport(kit, 'kit') as { [name: string]: Value };
    expect(Object.keys(value)).toEqual(['sep', 'inner', 'own']);
    expect((value['own'] as HostFunction).apply([])).toBe('/');
    expect(((value['inner'] as { twice: HostFunction }).twice as HostFunction).apply([4])).toBe(8);
    expect(fromExport(new URL('http://a.example'), 'url')).toBeInstanceOf(HostObject);
  });

  it('come lists of an export with functions and class instances, and without what cannot be read', () => {
    const crate = { list: [] as unknown[], get broken(): string { throw new Error('no'); } }; // prettier-ignore
    crate.list.push(crate, undefined, { tell: () => 'told' }, new URL('http://a.example'));
    const value = fromExport(crate, 'crate') as { list: [null, null, { tell: HostFunction }, HostObject] };
    expect(Object.keys(value)).toEqual(['list']);
    expect(value.list.slice(0, 2)).toEqual([null, null]);
    expect(value.list[2].tell.apply([])).toBe('told');
    expect(value.list[3]).toBeInstanceOf(HostObject);
    const trap = new Proxy({}, { ownKeys: () => { throw new Error('trap'); } }); // prettier-ignore
    expect(fromExport(trap, 'trap')).toEqual({});
  });

  it('comes an object that is referred to very often as one copy', () => {
    let shared: object = { end: 1 };
    for (let i = 0; i < 60; i++) shared = { left: shared, right: shared };
    const value = fromExport(shared, 'shared') as { left: object; right: object };
    expect(value.left).toBe(value.right);
  });

  it('is a field of a host object read with its functions, and a getter that throws is an error of the language', () => {
    const inner = { up: (text: string) => text.toUpperCase(), self: {} };
    inner.self = inner;
    const host = new HostObject({ inner, get broken(): string { throw new Error('no'); } }); // prettier-ignore
    const field = readField(host, 'inner', { written: '@h' }) as { up: HostFunction };
    expect(Object.keys(field)).toEqual(['up']);
    expect(field.up.apply(['a'])).toBe('A');
    expect(() => readField(host, 'broken', { written: '@h' })).toThrow(
      expect.objectContaining({ code: 'CODE_THREW', message: '@h.broken: no' }),
    );
  });

  it('and back, JSON stays what it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(toNative(fromNative(plain))).toEqual(plain);
      }),
    );
  });

  it('keeps keys that mean something to the host', () => {
    const odd: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}');
    expect(JSON.stringify(toNative(fromNative(odd)))).toBe('{"__proto__":{"a":1},"constructor":2}');
  });
});

describe('out of code', () => {
  class Crate {
    constructor(readonly tons: number) {}
    weigh(): number {
      return this.tons;
    }
  }
  it.each<[string, unknown, Value]>([
    ['NaN', NaN, 'NaN'],
    ['infinity', -Infinity, '-Infinity'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a function', () => 1, ''],
    ['undefined', undefined, ''],
    ['a big integer', 2n ** 60n, '1152921504606846976'],
    ['what JSON leaves out', { a: undefined, b: () => 1, c: [undefined, NaN], d: new Date(0) }, { c: [null, null], d: '1970-01-01T00:00:00.000Z' }],
    ['a map', new Map<unknown, unknown>([['a', new Set([1])], [2, 'b']]), { a: [1], '2': 'b' }],
    ['an instance', new Crate(5), { tons: 5 }],
    ['boxed values', [new Number(1), new String('a'), new Boolean(false)], [1, 'a', false]],
    ['the same object twice', (() => { const o = { a: 1 }; return [o, o]; })(), [{ a: 1 }, { a: 1 }]],
  ])('comes %s', (_, returned, value) => {
    expect(fromNative(returned)).toEqual(value);
  }); // prettier-ignore

  it('comes plain data from another context too', () => {
    const made: unknown = vm.runInNewContext('({ list: [1, new Map([["k", new Date(0)]])] })');
    const value = fromNative(made);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value).toEqual({ list: [1, { k: '1970-01-01T00:00:00.000Z' }] });
  });

  it('comes a copy', () => {
    const kept = { a: [1] };
    const value = fromNative(kept);
    kept.a.push(2);
    expect(value).toEqual({ a: [1] });
  });

  it('comes no structure that contains itself', () => {
    const loop: { self?: unknown } = {};
    loop.self = [loop];
    expect(() => fromNative(loop)).toThrow(expect.objectContaining({ code: 'CYCLIC_RESULT' }));
  });

  it('from a module of the host come functions and instances to use', () => {
    const double = fromHost((n: number) => n * 2, 'double');
    expect(double).toBeInstanceOf(HostFunction);
    expect((double as HostFunction).apply([4])).toBe(8);
    expect(fromHost(new Crate(5))).toBeInstanceOf(HostObject);
    expect([fromHost(null), fromHost(undefined), fromHost(NaN), fromHost({ a: 1 }), fromHost([1])]).toEqual([
      null,
      null,
      NaN,
      { a: 1 },
      [1],
    ]);
  });
});

describe('JSON for journals and keys', () => {
  it('has texts for what JSON cannot hold', () => {
    expect(toJson([NaN, new Fetch(), secret({ a: secret(Infinity) }), undefined])).toEqual([
      'NaN',
      '<function(url)>',
      { a: 'Infinity' },
      null,
    ]);
  });

  it('is the very same value when nothing must change', () => {
    const value = { a: [1, { b: 'c' }] };
    expect(toJson(secret(value))).toBe(value);
  });

  it('reads back as what was written', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => JSON.stringify(toJson(value as Value)) === JSON.stringify(value)));
  });
});

describe('into shells', () => {
  const file = { absolute: '/p/l.json', relative: './l.json' };
  const loaded = annotate(['a', 'b'], { text: '["a",  "b"]', file });
  it.each<[string, Value, string, string]>([
    ['text', `a'b "c" $HOME`, `a'b "c" $HOME`, `a'b "c" $HOME`],
    ['null', null, '', 'null'],
    ['a missing argument', undefined, '', ''],
    ['a number', 1.5, '1.5', '1.5'],
    ['an object', { a: [1, 'x y'] }, '{"a":[1,"x y"]}', '{"a":[1,"x y"]}'],
    ['a list', [1, 'b c', { k: 3 }, [4]], '1\nb c\n{"k":3}\n[4]', '[1,"b c",{"k":3},[4]]'],
    ['a list of scalars', [1, 'b c', null], '1\nb c\n', '1 b c null'],
    ['a labelled list', secret([1, 2]), '1\n2', '1 2'],
    ['a list in a file', loaded, '["a",  "b"]', '["a",  "b"]'],
    ['a labelled null', secret(null), '', 'null'],
  ])('goes %s', (_, value, environment, interpolated) => {
    expect([shellText(value), commandText(value)]).toEqual([environment, interpolated]);
  });
});

describe('results', () => {
  it.each<[string, Value]>([
    ['42', 42],
    ['-1.5', -1.5],
    ['true', true],
    ['null', null],
    ['[1,2]\n', [1, 2]],
    ['{"k": "1"}', { k: '1' }],
    ['"quoted"', 'quoted'],
    ['+5', '+5'],
    ['007', '007'],
    ['1e21', '1e21'],
    ['NaN', 'NaN'],
    ['-', '-'],
    ['1.', '1.'],
    ['{not json}', '{not json}'],
    ['"open', '"open'],
    ['', ''],
    ['  lead and trail  ', '  lead and trail'],
    ['one\n\ntwo\n\n', 'one\n\ntwo'],
  ])('of code: %j', (text, value) => {
    expect(dataOf(parseResult(text, 'code'))).toEqual(value);
    expect(dataOf(parseResult(text, 'inline-cmd'))).toEqual(value);
  });

  it.each<[string, Value]>([
    ['42\n', '42'],
    ['true', 'true'],
    ['"quoted"', '"quoted"'],
    [' [1]', ' [1]'],
    ['[1,2]\n', [1, 2]],
    ['{"a":1}', { a: 1 }],
    ['{oops}', '{oops}'],
  ])('of cmd: %j', (text, value) => {
    expect(dataOf(parseResult(text, 'cmd'))).toEqual(value);
  });

  it('keep the text that they were read from', () => {
    expect(textOf(parseResult('{ "a": 1 }\n\n', 'cmd'))).toBe('{ "a": 1 }');
    expect(textOf(parseResult('1.50', 'code'))).toBe('1.50');
    expect(parseResult('15', 'code')).toBe(15);
  });

  it.each<[unknown, Value]>([
    [null, ''],
    [undefined, ''],
    ['  pad  ', 'pad'],
    ['12', 12],
    ['true', true],
    [
      ['1', 'true'],
      ['1', 'true'],
    ],
    [NaN, 'NaN'],
    [0.1 + 0.2, 0.30000000000000004],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
  ])('of js: %j', (returned, value) => {
    expect(dataOf(resultOfCode(returned))).toEqual(value);
  });
});
