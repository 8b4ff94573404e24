/** Attacks on the realm of a script: REALM-1 to REALM-4, BOOT-1. workflows-js.md 14. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, it } from 'vitest';

import { CLIMB, run } from './closed-script.js';

it.each([
  ['a global', 'return [agent, parallel, pipeline, workflow, phase, log, budget, console, setTimeout, structuredClone].flatMap(climb)'],
  ['the global object', 'return climb(globalThis)'],
  ['a promise of an agent', 'const p = agent("q"); const r = climb(p); await p; return r'],
  [
    'the symbols of a promise',
    'const p = agent("q"); return Reflect.ownKeys(p).filter((key) => typeof p[key] === "object" || typeof p[key] === "function")',
  ],
  ['a result', 'return climb(await workflow({ scriptPath: "x" }) ?? {})'],
  ['an error of an agent', 'try { await agent("fail") } catch (e) { return climb(e) }'],
  ['a refused argument', 'try { await agent(7) } catch (e) { return climb(e) }'],
  ['eval', 'try { eval("1") } catch (e) { return climb(e).concat(e.name === "EvalError" ? [] : [e.name]) }'],
  ['import()', 'const p = import("node:fs"); const r = climb(p); try { await p } catch (e) { return r.concat(climb(e)) }'],
  [
    'import() that HTML comments hide from a parser of modules',
    'let x = 1\nlet y = 0\nx <!--/*\nconst p = import("node:fs"); const r = climb(p); try { await p } catch (e) { return r.concat(climb(e)) }\n/**/ y',
  ],
  [
    'a deep stack',
    'let found = []; const dig = () => { try { dig() } catch { try { log("x") } catch (e) { found = found.concat(climb(e)) } } }; dig(); return found',
  ],
  [
    'calls of a host at the end of the stack',
    'const all = []; const dig = () => { try { dig() } catch (e) { all.push(e) } try { Date.now() } catch (e) { all.push(e) } try { void parallel([() => 1]) } catch (e) { all.push(e) } }; dig(); return all.flatMap(climb)',
  ],
  ['call sites', 'try { Error.prepareStackTrace = (e, sites) => sites } catch (e) { return climb(e) } return ["replaced"]'],
  ['another Error', 'try { globalThis.Error = { prepareStackTrace: (e, s) => s } } catch (e) { return climb(e) } return ["replaced"]'],
  ['a thenable', 'let got; await { then(a, b) { got = [a, b]; a() } }; return got.flatMap(climb)'],
  ['a thenable as a result', 'const r = await parallel([() => ({ then(a) { a(climb(a)) } })]); return r[0]'],
  [
    'a changed Promise.prototype.then',
    'const seen = []; const then = Promise.prototype.then; Promise.prototype.then = function (a, b) { seen.push(a, b); return then.call(this, a, b) }; await parallel([() => agent("q")]); await pipeline([1], (x) => agent("r")); return seen.filter(Boolean).flatMap(climb)',
  ],
  [
    'changed built-in prototypes',
    `const seen = []
for (const [where, name] of [[Function.prototype, 'call'], [Function.prototype, 'apply'], [Array.prototype, 'push'], [Array.prototype, Symbol.iterator], [Map.prototype, 'set'], [Object, 'defineProperty']]) {
  const before = where[name]
  where[name] = function (...all) { for (let i = 0; i < all.length; i++) seen[seen.length] = all[i]; seen[seen.length] = this; return Reflect.apply(before, this, all) }
}
Object.defineProperty(Object.prototype, 'resolve', { set(f) { seen[seen.length] = f }, get() { seen[seen.length] = this } , configurable: true })
await parallel([() => agent('q')]); phase('p'); Date.now(); new Date(); setTimeout(() => {}, 1)
delete Object.prototype.resolve
return seen.filter((x) => typeof x === 'function' || (typeof x === 'object' && x !== null)).slice(0, 200).flatMap(climb)`,
  ],
  [
    'a getter of a thrown object',
    'throw { get name() { return climb(globalThis).length }, get message() { return climb(new Error("x")).join() || "none" } }',
  ],
  ['arguments and callers', 'try { return [typeof (function () { return arguments.callee.caller })()] } catch (e) { return climb(e) }'],
  [
    'constructors of functions',
    '[async () => 1, function* () {}, async function* () {}].map((f) => { try { return f.constructor("return 1") } catch (e) { return e } }); return (() => { try { new (async () => 1).constructor("return process")(); return ["made"] } catch (e) { return climb(e) } })()',
  ],
])('lets nothing out through %s', async (_, attack) => {
  const result = await run(CLIMB + attack);
  expect(result === '0: none' ? [] : (result ?? [])).toEqual([]);
});

it('keeps the contexts of an embedding program off the promises of a script', async () => {
  const own = new AsyncLocalStorage<object>();
  const found = await own.run({ secret: true }, () =>
    run(
      'const p = agent("q"); const q = (async () => { await p; return 1 })(); await q; return [p, q].flatMap((x) => Reflect.ownKeys(x).map((key) => typeof x[key]))',
    ),
  );
  expect((found as string[]).filter((type) => type === 'object' || type === 'function')).toEqual([]);
});

it('carries the branch through awaits, timers and Promise.all', async () => {
  const body = `const got = []
await parallel([0, 1].map((n) => async () => { await agent('a' + n); await new Promise((r) => setTimeout(r, 1)).catch(() => 0); got[n] = 1 }).slice(0, 0))
await pipeline(['x', 'y'], async (x) => { await agent(x); return x }, async (x, y, i) => { await Promise.all([agent('p'), agent('q')]); got.push(x + i) })
return got`;
  expect(await run(body)).toEqual(['x0', 'y1']);
});

it('has no names of the host, and lets a script look for them', async () => {
  expect(await run('return process.env')).toContain('ReferenceError: process is not defined');
  expect(await run('return [typeof process, typeof require, globalThis.fetch === undefined]')).toEqual(['undefined', 'undefined', true]);
  expect(await run('const process = { env: 1 }; return process.env')).toBe(1);
  expect(await run('return [typeof WebAssembly, typeof setTimeout, typeof structuredClone]')).toEqual([
    'undefined',
    'function',
    'function',
  ]);
});

it('takes the clock and the random numbers from the host', async () => {
  expect(await run('return [Date.now(), +new Date(), Math.random(), new Date().constructor === Date, new Date(5).getTime()]')).toEqual([
    7,
    7,
    7,
    true,
    5,
  ]);
  expect(await run('return new Intl.DateTimeFormat("en", { timeZone: "UTC" }).format()')).toBe('1/1/1970');
  expect(await run('return Date()')).toContain('1970');
});
