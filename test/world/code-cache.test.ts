/** Bodies are compiled for their first call only: a run calls them thousands of times. */
import { expect, it } from 'vitest';
import { createCodeCache } from '../../src/world/code/code-cache.js';
import { realmOf, type Realm } from '../../src/world/code/compile-code.js';

/** A cache that counts the texts that it hands to the engine. */
function counting(): { readonly cache: ReturnType<typeof createCodeCache>; readonly compiled: () => number } {
  let compiled = 0;
  const counted: Realm = realmOf(Function, {
    make(constructor, texts) {
      compiled++;
      return constructor(...texts);
    },
    load: () => Promise.reject(new Error('no body imports anything')),
  });
  return {
    cache: createCodeCache({ realm: () => counted, ambient: ['console'], shadowTiming: 'sync', host: { checkOpen: () => undefined } }),
    compiled: () => compiled,
  };
}

const shadow = [{ name: 'double', params: ['y'], code: 'return 2 * y' }];

it.each([
  ['a trivial body', { code: 'return x + 1' }, 3],
  ['a body without a return', { code: 'const y = x; y + 1' }, 3],
  ['a body that mentions a global', { code: 'console.log(x); return x + 1' }, 3],
  ['a body that calls a shadow function', { code: 'return double(x) - x + 1', shadow }, 3],
])('compiles %s for its first call only', async (_, body, result) => {
  const { cache, compiled } = counting();
  const call = (x: number): unknown =>
    cache.call({ language: 'js', unset: [], echo: false, variables: { x }, ...body }, () => ({ log: () => undefined }));
  expect(await call(2)).toBe(result);
  const atFirst = compiled();
  expect(atFirst).toBeGreaterThan(0);
  for (let x = 0; x < 1000; x++) expect(await call(x)).toBe(x + 1);
  expect(compiled()).toBe(atFirst);
});
