/** Further attacks on the realm of a script, by what the language itself offers. workflows-js.md 14. */
import { expect, it } from 'vitest';

import { CLIMB, run } from './closed-script.js';

it.each([
  [
    'a proxy as options',
    'const seen = []; const all = new Proxy({}, { get(t, k, r) { seen.push(r); return Reflect.get(t, k) }, ownKeys(t) { seen.push(this); return Reflect.ownKeys(t) }, getOwnPropertyDescriptor(t, k) { seen.push(t); return Reflect.getOwnPropertyDescriptor(t, k) } }); await agent("q", all); return seen.flatMap(climb)',
  ],
  [
    'a proxy as a prompt',
    'try { await agent(new Proxy(function () {}, { get: (t, k, r) => { throw r } })) } catch (e) { return climb(e) }',
  ],
  [
    'getters of options',
    'const seen = []; const frames = () => { try { null.x } catch (e) { seen.push(e) } }; await agent("q", { get label() { frames(); return "x" }, get schema() { seen.push(this); return undefined } }); return seen.flatMap(climb)',
  ],
  [
    'toJSON of options',
    'const seen = []; await agent("q", { phase: { toJSON(...all) { seen.push(this, ...all); return "p" } } }); return seen.filter((x) => Object(x) === x).flatMap(climb)',
  ],
  [
    'toJSON of a result',
    'const seen = []; globalThis.seen = seen; const r = { toJSON(...all) { seen.push(...all); return climb(this).concat(seen.filter((x) => Object(x) === x).flatMap(climb)) } }; return r',
  ],
  [
    'Error.prepareStackTrace, however it is set',
    'const got = []; for (const set of [() => Object.defineProperty(Error, "prepareStackTrace", { value: (e, s) => s }), () => Reflect.set(Error, "prepareStackTrace", (e, s) => s), () => { delete Error.prepareStackTrace; Error.prepareStackTrace = (e, s) => s }, () => Object.setPrototypeOf(Error, { prepareStackTrace: (e, s) => s })]) { try { set() } catch (e) { got.push(e) } try { agent(7).catch(() => 0); got.push(new Error("x").stack) } catch (e) { got.push(e) } } return got.flatMap((x) => typeof x === "string" ? [] : climb(x)).filter((x) => x !== "TypeError")',
  ],
  [
    'call sites of an error of the host',
    'const c = {}; Error.captureStackTrace(c); try { await agent("fail") } catch (e) { Error.captureStackTrace(e); return climb(c).concat(typeof e.stack === "string" ? climb(e) : ["sites"]) }',
  ],
  [
    'structuredClone of objects with accessors and prototypes',
    'class Odd { get a() { return 1 } }; const c = [structuredClone(new Odd()), structuredClone({ get a() { return [1] } }), structuredClone(new Error("x")), structuredClone(new Map([[1, {}]])), structuredClone(new Uint8Array(2))]; return c.flatMap(climb)',
  ],
  ['structuredClone of a function', 'try { structuredClone(() => 1) } catch (e) { return climb(e) } return ["cloned"]'],
  [
    'the species of promises',
    'const seen = []; class Mine extends Promise { constructor(f) { super((a, b) => { seen.push(a, b); f(a, b) }) } static get [Symbol.species]() { return Mine } }; Object.defineProperty(Promise, Symbol.species, { get: () => Mine }); await agent("q").then((x) => x); await parallel([() => Mine.resolve(1)]); return seen.flatMap(climb)',
  ],
  [
    'a constructor of a promise',
    'const p = agent("q"); p.constructor = { [Symbol.species]: function (f) { const seen = []; f((x) => seen.push(x), () => 0); this.seen = seen } }; let r = []; try { r = climb(p.then((x) => x)) } catch (e) { r = climb(e) } await p.catch(() => 0); return r',
  ],
  [
    'async generators',
    'const seen = []; async function* each() { try { seen.push(yield agent("q")) } finally { seen.push(new Error("f")) } } for await (const x of each()) seen.push(Object(x)); const proto = Object.getPrototypeOf(Object.getPrototypeOf(each)); try { proto.constructor("yield process") } catch (e) { seen.push(e) } return seen.flatMap((x) => climb(x))',
  ],
  [
    'weak references and finalizers',
    'const r = new WeakRef(agent); const f = new FinalizationRegistry((x) => x); f.register({}, agent); return [r, f, r.deref()].flatMap(climb)',
  ],
  ['shared memory', 'return [typeof SharedArrayBuffer, typeof Atomics, typeof WebAssembly].filter((x) => x !== "undefined")'],
  [
    'shared memory that other built-ins make',
    'const made = []; for (const make of [() => new ArrayBuffer(8, { maxByteLength: 16 }).constructor, () => Object.getPrototypeOf(Int32Array)]) { try { made.push(make()) } catch (e) { made.push(e) } } return made.flatMap(climb)',
  ],
  [
    'eval by other names',
    'const tried = [() => (0, eval)("1"), () => eval?.("1"), () => globalThis["ev" + "al"]("1"), () => Reflect.apply(eval, null, ["1"]), () => [].map.call(["1"], eval)]; return tried.flatMap((f) => { try { return ["ran " + f()] } catch (e) { return e.name === "EvalError" ? climb(e) : [e.name] } })',
  ],
  ['timers with texts', 'try { setTimeout("globalThis.x = 1", 1) } catch (e) { return climb(e) } return ["taken"]'],
  [
    'the value of a timer',
    'const t = setTimeout(() => 0, 1); const seen = []; await new Promise((r) => setTimeout(function (...all) { seen.push(this ?? {}, ...all); r() }, 1, [1])).catch(() => 0).constructor; return climb(Object(t)).concat(seen.flatMap(climb))',
  ],
  [
    'legacy members of regular expressions',
    '/(a)(b)/.exec("ab"); return climb(RegExp).concat([RegExp.$1, RegExp.lastMatch, RegExp.input].flatMap((x) => climb(Object(x))))',
  ],
  [
    'a replaced RegExp.prototype.exec',
    'const seen = []; RegExp.prototype.exec = function (x) { seen.push(this, Object(x)); return null }; log("x"); phase("p"); await agent("q"); return seen.flatMap(climb)',
  ],
  [
    'formats of Intl',
    'return Object.getOwnPropertyNames(Intl).flatMap((name) => { try { return climb(typeof Intl[name] === "function" ? new Intl[name]("en", { type: "region" }) : Intl[name]) } catch (e) { return climb(e) } })',
  ],
  [
    'methods of console',
    'return Object.keys(console).concat(Object.getOwnPropertyNames(console)).flatMap((name) => { let r; try { r = console[name]({ toString() { return climb(this).join() } }) } catch (e) { r = e } return climb(Object(r)).concat(climb(console[name])) })',
  ],
  [
    'what log makes of values',
    'const seen = []; log({ toJSON(...all) { seen.push(...all, this) } }, new Proxy({}, { get(t, k, r) { seen.push(r, t); return undefined } }), { get stack() { seen.push(this) } }); return seen.filter((x) => Object(x) === x).flatMap(climb)',
  ],
  [
    'members of the budget',
    'try { budget.spent = 1 } catch {} return climb(budget).concat(climb(budget.spent), climb(Object(budget.remaining())))',
  ],
  [
    'the global object by every way',
    'const found = [globalThis, this, (function () { return this })(), (() => this)(), Function.prototype.call.call(function () { return this })]; return found.filter((x) => x !== undefined).flatMap(climb)',
  ],
  [
    'objects behind the prototype of the global object',
    'const all = []; for (let at = globalThis; at; at = Object.getPrototypeOf(at)) all.push(at); return all.flatMap((x) => climb(x))',
  ],
  [
    'a polluted Object.prototype',
    'const seen = []; const keep = (x) => Reflect.defineProperty(seen, seen.length, { __proto__: null, value: x, enumerable: true, configurable: true, writable: true }); for (const key of ["done", "then", "0", "1", "label", "reject", "resolve"]) Object.defineProperty(Object.prototype, key, { get() { keep(Object(this)); return undefined }, set(x) { keep(Object(x)); keep(Object(this)) }, configurable: true }); try { await parallel([() => agent("q")]); log("x"); new Date() } catch (e) { keep(e) } for (const key of ["done", "then", "0", "1", "label", "reject", "resolve"]) delete Object.prototype[key]; return seen.slice(0, 200).flatMap(climb)',
  ],
  [
    'an iterator of a list',
    'const seen = []; const list = [() => agent("q")]; list[Symbol.iterator] = function () { seen.push(this, new Error("i")); return [][Symbol.iterator]() }; Array.prototype.concat = function (...all) { seen.push(this, ...all); return [] }; await parallel(list); return seen.flatMap(climb)',
  ],
  [
    'a list with getters and a changing length',
    'const seen = []; const list = [() => agent("q")]; Object.defineProperty(list, 0, { get() { seen.push(this); list.length = 3; return () => agent("r") } }); try { await parallel(list) } catch (e) { seen.push(e) } return seen.flatMap(climb)',
  ],
  [
    'aggregate errors',
    'try { await Promise.any([agent("fail"), agent("fail")]) } catch (e) { return climb(e).concat(e.errors.flatMap(climb)) }',
  ],
  [
    'causes of errors',
    'try { await workflow({ get scriptPath() { throw new Error("x", { cause: agent }) } }) } catch (e) { return climb(e).concat(climb(e.cause)) }',
  ],
  [
    'labels and symbols of functions',
    'return [agent, parallel, pipeline, phase, log, workflow].flatMap((f) => Object.getOwnPropertySymbols(f).concat([f.prototype, f.caller, f.arguments].filter((x) => x)).map(String)).filter((x) => !x.includes("TypeError"))'.replace(
      'f.caller, f.arguments',
      '...["caller", "arguments"].map((k) => { try { return f[k] } catch { return undefined } })',
    ),
  ],
])('lets nothing out through %s', async (_, attack) => {
  const result = await run(CLIMB + attack);
  expect(result ?? []).toEqual([]);
});
