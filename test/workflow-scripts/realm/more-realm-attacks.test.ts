/** Attacks on the realm of a script by what the engine and Node add to the language. workflows-js.md 14. */
import { expect, it } from 'vitest';

import { CLIMB, run } from './closed-script.js';

it.each([
  [
    'the accessor of a stack',
    'const found = []; for (const e of [new Error("x"), (() => { const c = {}; Error.captureStackTrace(c); return c })()]) { const own = Object.getOwnPropertyDescriptor(e, "stack"); found.push(own, own.get, own.set, e.stack && Object(e.stack)) } return found.filter((x) => x).flatMap(climb)',
  ],
  [
    'a stack limit with accessors while an agent is asked',
    'const seen = []; Object.defineProperty(Error, "stackTraceLimit", { get() { seen.push(this, new Error("g")); return 5 }, set(x) { seen.push(this, Object(x)) }, configurable: true }); await agent("q"); try { await agent("fail") } catch (e) { seen.push(e) } return seen.flatMap(climb)',
  ],
  [
    'a name of errors that runs while a stack is written',
    'const seen = []; let depth = 0; for (const key of ["name", "message", "toString"]) Object.defineProperty(Error.prototype, key, { get() { if (depth++ < 20) { seen.push(this); try { null.x } catch (e) { seen.push(e) } } return "x" }, configurable: true }); await agent("q"); await agent("fail").catch((e) => seen.push(e)); return seen.flatMap(climb)',
  ],
  [
    'a constructor that inherits from Error',
    'const seen = []; class Odd extends Error { constructor() { super("x"); seen.push(new.target, this) } static prepareStackTrace(...all) { seen.push(...all.flat()); return all } } const e = new Odd(); seen.push(Object(e.stack)); Error.captureStackTrace(e, Odd); seen.push(Object(e.stack)); try { await agent(new Odd()) } catch (x) { seen.push(x) } return seen.flatMap(climb)',
  ],
  [
    'thenables that an answer or a stage becomes',
    'const seen = []; const thenable = { then(...all) { seen.push(this, ...all); all[0]("done") } }; await pipeline([1], () => thenable, async () => thenable); await parallel([() => thenable]); Promise.prototype.then = new Proxy(Promise.prototype.then, { apply(f, self, all) { seen.push(self, ...all); return Reflect.apply(f, self, all) } }); await agent("q"); await parallel([() => agent("r")]); return seen.filter((x) => Object(x) === x).flatMap(climb)',
  ],
  [
    'a schema whose members are accessors and proxies',
    'const seen = []; const schema = new Proxy({ type: "object", get properties() { seen.push(this); return { a: { toJSON() { seen.push(this); return {} } } } } }, { get(t, k, r) { seen.push(t, r, Object(k)); return Reflect.get(t, k, r) } }); await agent("q", { schema, unknown: [Symbol("x"), () => 1, 1n].slice(0, 2) }); return seen.filter((x) => typeof x !== "symbol").flatMap(climb)',
  ],
  [
    'revivers and raw values of JSON',
    'const seen = []; JSON.parse("[{\\"a\\":1}]", function (...all) { seen.push(this, ...all.map(Object)); return all[1] }); JSON.stringify([{ a: 1 }], function (k, v) { seen.push(this); return v }); if (JSON.rawJSON) seen.push(JSON.rawJSON("1")); JSON.parse = JSON.stringify = function (...all) { seen.push(...all); return {} }; await agent("q"); log("x"); return seen.filter((x) => Object(x) === x).flatMap(climb)',
  ],
  [
    'tagged templates and their strings',
    'const seen = []; const tag = (strings, ...all) => { seen.push(strings, strings.raw, ...all); return strings }; tag`a${agent}b${Promise.resolve(1)}`; try { await agent`q` } catch (e) { seen.push(e) } try { await log`q${agent}`; phase`p` } catch (e) { seen.push(e) } return seen.filter((x) => Object(x) === x).flatMap(climb)',
  ],
  [
    'iterators of results, and helpers of iterators',
    'const seen = []; const results = await parallel([() => agent("q"), () => agent("r")]); seen.push(results, results[Symbol.iterator](), results.entries(), Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))); if (globalThis.Iterator) seen.push(Iterator.from(results).map((x) => Object(x)), Iterator.prototype); return seen.flatMap(climb)',
  ],
  [
    'a species of lists',
    'const seen = []; class Mine extends Array { static get [Symbol.species]() { seen.push(this); return function (...all) { seen.push(this, ...all.map(Object)); return [] } } } await parallel(Mine.from([() => agent("q")])); await pipeline(Mine.of("a"), (x) => x); Object.defineProperty(Array, Symbol.species, { get() { seen.push(this); return Array }, configurable: true }); await parallel([1, 2].map((n) => () => agent("q" + n))); return seen.flatMap(climb)',
  ],
  [
    'conversions of what a built-in function is given',
    'const seen = []; const odd = { [Symbol.toPrimitive](hint) { seen.push(this, Object(hint)); return "4" }, valueOf() { seen.push(this); return 1 }, toString() { seen.push(this); return "x" } }; setTimeout(() => 0, odd); clearTimeout(odd); phase(odd); log(odd); console.error(odd, [odd]); budget.remaining(odd); new Date(odd); try { await workflow(odd) } catch (e) { seen.push(e) } try { await parallel({ length: odd }) } catch (e) { seen.push(e) } return seen.flatMap(climb)',
  ],
  [
    'a rejection with objects of the script',
    'const seen = []; const odd = new Proxy(function () {}, { get(t, k, r) { seen.push(t, r); return k === "stack" ? { toString() { seen.push(this); return "s" } } : undefined }, apply(t, self, all) { seen.push(...all) } }); await parallel([() => Promise.reject(odd), () => { throw { get message() { seen.push(this); return "m" }, get stack() { throw seen } } }]); Promise.reject(odd); await agent("q"); return seen.filter((x) => Object(x) === x).slice(0, 100).flatMap((x) => x === seen ? [] : climb(x)).filter((x) => x !== "TypeError")',
  ],
  [
    'disposal, suppressed errors and asynchronous stacks',
    'const seen = []; for (const name of ["SuppressedError", "DisposableStack", "AsyncDisposableStack"]) { try { const made = globalThis[name] && new globalThis[name](); if (made) seen.push(made, made.constructor) } catch (e) { seen.push(e) } } for (const key of ["dispose", "asyncDispose", "observable", "nodejs.util.inspect.custom"]) if (Symbol[key]) seen.push(Object(Symbol[key])); const custom = Symbol.for("nodejs.util.inspect.custom"); const shown = { [custom](...all) { seen.push(this, ...all) } }; log(shown); console.log([shown]); try { await workflow(shown) } catch (e) { seen.push(e) } return seen.filter((x) => Object(x) === x).flatMap(climb)',
  ],
  [
    'an asynchronous context, found on promises and generators',
    'const seen = []; const made = [agent("q"), (async () => agent("r"))(), (async function* () { yield agent("s") })(), Promise.withResolvers?.() ?? {}, new Promise(() => 0)]; for (const each of made) for (const key of Reflect.ownKeys(each)) seen.push(Object(each[key]), Object.getOwnPropertyDescriptor(each, key)); await Promise.allSettled([made[0], made[1]]); for (const each of made) seen.push(each, ...Reflect.ownKeys(each).map((k) => Object(each[k])).filter((x) => typeof x !== "symbol")); return seen.flatMap(climb)',
  ],
  [
    'global names of Node that a context may have',
    'return ["AbortController", "AsyncLocalStorage", "Buffer", "EventTarget", "Request", "URL", "TextDecoder", "Worker", "MessageChannel", "BroadcastChannel", "queueMicrotask", "setImmediate", "setInterval", "performance", "crypto", "navigator", "localStorage", "global", "self", "gc", "v8", "internalBinding", "primordials", "ShadowRealm"].filter((name) => { try { return typeof (0, (() => globalThis[name])()) !== "undefined" } catch { return false } })',
  ],
  [
    'labels of blocks, `with` and names that hide built-in ones',
    'const seen = []; { let Promise = class { then() { seen.push(this) } }, Error = class { constructor() { seen.push(this) } }, JSON = {}, Reflect = {}; await agent("q"); await parallel([() => agent("r")]); seen.push(new Promise(), new Error()) } globalThis.Promise = globalThis.JSON = globalThis.Object = undefined; await agent("s"); log("x"); return seen.length ? seen.map((x) => { try { return x.constructor.constructor("return process")() && "ran" } catch (e) { return e.name } }).filter((x) => x !== "EvalError") : []',
  ],
])('lets nothing out through %s', async (_, attack) => {
  const result = await run(CLIMB + attack);
  expect(result ?? []).toEqual([]);
});
