/** Calls of functions. control.md 4 and 6, checkpoint-resume.md 4 and 6. */
import { describe, expect, it } from 'vitest';
import { call } from '../../../src/language/calls/call.js';
import { BuiltIn } from '../../../src/language/expressions/built-ins.js';
import { Signal } from '../../../src/runtime/completion.js';
import { callKey, type CallRequest } from '../../../src/runtime/calls/call-key.js';
import type { CacheQuery } from '../../../src/runtime/calls/result-cache.js';
import { HostFunction } from '../../../src/values/kinds/host-function.js';
import type { Callable } from '../../../src/values/kinds/callable.js';
import { annotate, dataOf, labelsOf, taintOf, type Value } from '../../../src/values/value.js';
import { testFrame, type FrameOptions, type TestFrame } from '../../support/test-frame.js';

const AT = { at: 0, called: ['f'] };

interface Called extends TestFrame {
  result(args?: readonly Value[]): ReturnType<typeof call>;
}

/** Calls the function `@f` of a script. */
async function functionOf(script: string, options: FrameOptions = {}): Promise<Called> {
  const made = await testFrame({ script, ...options });
  const callee = dataOf(made.frame.scope.find('f')?.value) as Callable;
  return { ...made, result: (args = []) => call(callee, args, made.frame, AT) };
}

describe('a function of the script', () => {
  it('binds arguments to parameters in order, and leaves missing ones undefined', async () => {
    const { result } = await functionOf('exe @f(a, b) = [ => { a: @a, missing: @b ?? "none" } ]');
    expect(dataOf((await result(['x'])) as Value)).toEqual({ a: 'x', missing: 'none' });
  });

  it('does not see the variables of its caller', async () => {
    const { frame, result } = await functionOf('exe @f() = `@local`');
    frame.scope.define({ name: 'outer', value: 1, kind: 'var' });
    expect(dataOf((await result()) as Value)).toBe('@local');
  });

  it('turns text that is a JSON object into the object, and keeps the text', async () => {
    const { result } = await functionOf('exe @f() = `{"n":  1}`');
    const value = (await result()) as Value;
    expect(dataOf(value)).toEqual({ n: 1 });
    expect(value).toMatchObject({ text: '{"n":  1}' });
  });

  it('adds the labels of the function and of its arguments to the result', async () => {
    const { result } = await functionOf('exe pii @f(a) = `got @a`');
    const value = (await result([annotate('x', { labels: ['untrusted'] })])) as Value;
    expect([dataOf(value), labelsOf(value).toSorted()]).toEqual(['got x', ['pii', 'untrusted']]);
  });

  it.each([
    ['exe @f() = `x`', 'src:template'],
    ['exe @f() = "x"', 'src:template'],
    ['exe @f() = [ => "x" ]', 'src:exe'],
    ['exe @f() = when [ * => "x" ]', 'src:exe'],
  ])('marks the result with the kind of its body: %s', async (script, marker) => {
    const { result } = await functionOf(script);
    expect(taintOf((await result()) as Value)).toEqual([marker]);
  });

  it('passes a control word on to the loop or pipeline around the call', async () => {
    const { result } = await functionOf('exe @f(a) = when [ @a > 1 => done `enough: @a`\n * => "more" ]');
    expect(dataOf((await result([1])) as Value)).toBe('more');
    const word = (await result([2])) as Signal;
    expect(word).toBeInstanceOf(Signal);
    expect([word.word, dataOf(word.value)]).toEqual(['done', 'enough: 2']);
  });

  it('passes the arguments of an alias on to the other function', async () => {
    const { result } = await functionOf('exe @g(a, b) = `@b@a`\nexe @f = @g');
    expect(dataOf((await result(['x', 'y'])) as Value)).toBe('yx');
  });

  it('is refused when it is called again while it runs, and lacks the label recursive', async () => {
    const { result } = await functionOf('exe @f(n) = when [ @n > 0 => @f(@n - 1)\n * => "end" ]');
    expect(dataOf((await result([0])) as Value)).toBe('end');
    await expect(result([1])).rejects.toMatchObject({ code: 'CIRCULAR_CALL', hint: 'declare it with the label: exe recursive @f(…)' });
  });

  it('may call itself up to the limit with the label recursive', async () => {
    const { result } = await functionOf('exe recursive @f(n) = when [ @n > 0 => @f(@n - 1)\n * => "end" ]', {
      settings: { recursionDepth: 3 },
    });
    expect(dataOf((await result([2])) as Value)).toBe('end');
    await expect(result([3])).rejects.toMatchObject({ code: 'RECURSION_DEPTH' });
  });
});

describe('other functions', () => {
  it('calls a built-in function with the value and its further arguments', async () => {
    const { frame } = await testFrame();
    const joined = new BuiltIn('join', (value, args) => [value, ...args].join('-'));
    expect(await call(joined, ['a', 'b', 'c'], frame, AT)).toBe('a-b-c');
  });

  it('awaits the promise of a function of Node, and gives it plain values', async () => {
    const { frame } = await testFrame();
    const host = new HostFunction('sum', async (list) => (list as number[]).reduce((a, b) => a + b));
    expect(await call(host, [annotate([1, 2], { labels: ['x'] })], frame, AT)).toBe(3);
  });

  it('reports an error of a function of Node at the place of the call', async () => {
    const { frame } = await testFrame({ script: 'var @x = 1' });
    const host = new HostFunction('fail', () => {
      throw new Error('no luck');
    });
    await expect(call(host, [], frame, { at: 4, called: ['fail'] })).rejects.toMatchObject({
      code: 'CODE_THREW',
      message: '@fail: no luck',
      location: { file: 'scripts/main.mld', at: 4 },
    });
  });
});

describe('the identity of an llm call', () => {
  /** Returns the lookup in the result cache that a call begins with. */
  async function queryOf(script: string, args: readonly Value[]): Promise<CacheQuery | undefined> {
    const queries: CacheQuery[] = [];
    const { result } = await functionOf(script, {
      cache: {
        policy: () => ({ records: false, reuses: true }),
        recordedDefinitions: new Set(),
        inFlight: { wait: () => undefined, isInFlight: () => false, start: () => () => undefined } as never,
        digest: async (text) => `digest of ${text}`,
        secretKeys: async () => (key) => `secret ${key}` as never,
        lookup: (query) => {
          queries.push(query);
          throw new Error('looked up');
        },
      },
    });
    await expect(result(args)).rejects.toThrow('looked up');
    return queries[0];
  }

  const keyOf = async (script: string, args: readonly Value[]): Promise<string | undefined> => (await queryOf(script, args))?.key;

  const keyFor = (request: CallRequest): string => callKey(request);

  it('is the function and its arguments', async () => {
    expect(await keyOf('exe llm @f(a, b) = `@a @b`', ['x', 2])).toBe(keyFor({ fn: 'f', args: ['x', 2] }));
  });

  it('leaves out arguments at the end that were not passed, and has null for those before', async () => {
    expect(await keyOf('exe llm @f(a, b, c) = `@b`', [undefined, 'x', undefined])).toBe(keyFor({ fn: 'f', args: [null, 'x'] }));
  });

  it('is the option `key` instead of the arguments', async () => {
    expect(await keyOf('exe llm @f(a, b) = `@a` with { key: @b }', ['x', 'y'])).toBe(keyFor({ fn: 'f', args: ['y'] }));
    expect(await keyOf('exe llm @f(a, b) = `@a` with { key: [@b, 1] }', ['x', 'y'])).toBe(keyFor({ fn: 'f', args: ['y', 1] }));
  });

  it('has the arguments that a wrapper passes on', async () => {
    const script = 'exe @model(p) = `@p`\nexe llm @f(a) = @model(`say @a`)';
    expect(await keyOf(script, ['x'])).toBe(keyFor({ fn: 'f', args: ['x'], via: { fn: 'model', args: ['say x'] } }));
  });

  it('is marked when an argument is secret, so that it is recorded under a keyed digest', async () => {
    const secret = annotate('x', { labels: ['secret'] });
    expect(await queryOf('exe llm @f(a) = `@a`', [secret])).toMatchObject({ key: keyFor({ fn: 'f', args: ['x'] }), hasSecret: true });
    expect(await queryOf('exe llm @f(a) = `@a`', ['x'])).toMatchObject({ hasSecret: false });
  });
});
