/** Attacks on the realm by what reaches the host: options, results, errors, prototypes. workflows-js.md 14. */
import { expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CLIMB, run } from './closed-script.js';
import { runScript } from '../run-script.js';

it.each([
  [
    'weak references and registries of finalisation',
    'const seen = [new WeakRef(agent), new WeakRef(await agent({ toString: 1 }).catch((e) => e)).deref()]; const registry = new FinalizationRegistry((...all) => seen.push(...all)); registry.register({}, agent); return [...seen, registry].flatMap(climb)',
  ],
  [
    'prototypes of asynchronous generators and their requests',
    'const seen = []; async function* g() { seen.push(yield agent("q")) } const it = g(); seen.push(it, Object.getPrototypeOf(g), Object.getPrototypeOf(it), it.next(), it.throw(new Error("x")).catch((e) => seen.push(e)), it.return(agent)); for await (const each of [agent("r")]) seen.push(Object(each)); return seen.flatMap(climb)',
  ],
  [
    'buffers that grow, are transferred or copied',
    'const seen = []; const b = new ArrayBuffer(8, { maxByteLength: 64 }); seen.push(b, b.slice(0, { valueOf() { seen.push(this); return 4 } }), structuredClone(b), structuredClone(new Uint8Array(b), { transfer: [b] })); if (b.transfer) seen.push(b.transfer()); return seen.flatMap(climb)',
  ],
  [
    'classes that structuredClone copies with',
    'const seen = []; class M extends Map { static get [Symbol.species]() { seen.push(this); return M } set(...all) { seen.push(this, ...all.map(Object)); return super.set(...all) } } class U extends Uint8Array { static get [Symbol.species]() { seen.push(this); return Uint8Array } } structuredClone(new M([[agent.name, { get a() { seen.push(this); return 1 } }]])); seen.push(structuredClone(new U(4)), structuredClone(new Error("x"))); return seen.flatMap(climb)',
  ],
  [
    'import.meta and import() in what is no code of the file',
    'const seen = []; for (const work of [() => eval("import(1)"), () => (0, eval)("import.meta"), () => new Function("return import(1)"), () => Reflect.construct(async () => 1, []), () => (async () => 1).constructor("return import(1)"), () => setTimeout("import(1)")]) try { seen.push(work()) } catch (e) { seen.push(e) } try { await import("node:fs") } catch (e) { seen.push(e) } return seen.flatMap(climb).filter((x) => x !== "TypeError")',
  ],
  [
    'formats and collators that are given accessors',
    'const seen = []; const odd = new Proxy({}, { get(t, k, r) { seen.push(t, r, Object(k)); return undefined }, has(...all) { seen.push(...all.map(Object)); return false } }); for (const name of ["DateTimeFormat", "NumberFormat", "Collator", "Segmenter", "ListFormat", "PluralRules"]) try { const made = new Intl[name]("en", odd); seen.push(made, made.resolvedOptions()) } catch (e) { seen.push(e) } new Intl.DateTimeFormat("en").format({ valueOf() { seen.push(this); return 0 } }); return seen.flatMap(climb)',
  ],
  [
    'a console whose members are replaced, and is called with a host-like receiver',
    'const seen = []; console.log.call(new Proxy({}, { get(...all) { seen.push(...all.map(Object)) } }), { toJSON(...all) { seen.push(this, ...all.map(Object)); return {} } }); for (const name of Object.keys(console)) seen.push(console[name], Object.getOwnPropertyDescriptor(console, name)); return seen.flatMap(climb)',
  ],
  [
    'a stack that overflows inside of a global',
    'const seen = []; const deep = () => { try { deep() } catch (e) { seen.push(e) } try { phase("x") } catch (e) { seen.push(e) } try { budget.spent() } catch (e) { seen.push(e) } }; try { deep() } catch (e) { seen.push(e) } return seen.slice(0, 300).flatMap(climb)',
  ],
])('stays in the realm: %s', async (_what, body) => {
  expect(await run(CLIMB + body)).toEqual([]);
});

it('takes members called __proto__ and constructor as data, and changes no prototype of the host', async () => {
  const root = mkdtempSync(join(tmpdir(), 'mlld-realm-'));
  try {
    writeFileSync(
      join(root, 'job.js'),
      `export const meta = { name: 'job', description: 'x' }
const odd = JSON.parse('{"__proto__": {"backend": "cmd:exit 9", "polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}')
const schema = JSON.parse('{"type": "object", "properties": {"__proto__": {"type": "object", "properties": {"polluted": {"type": "number"}}}}}')
return [await agent('q', odd), await agent('r', { schema }), await parallel([() => agent('s', { label: '__proto__', phase: 'constructor' })])]`,
    );
    const { report, result } = await runScript(root);
    expect(report).toMatchObject({ status: 'completed', calls: { executed: 3 } });
    expect(result).toContain('[Simulated]');
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
    const resumed = await runScript(root, { cache: { resume: '' } });
    expect(resumed.report).toMatchObject({ status: 'completed', calls: { executed: 0, reused: 3 } });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

it.each([
  'Object.prototype.toJSON = () => 1',
  'Object.defineProperty(Object.prototype, "toJSON", { get() { throw new Error("x") } })',
  'Array.prototype.toJSON = () => ["group", 1e9]',
  'Object.defineProperty(Object.prototype, "get", { get() { return undefined } })',
])('asks and ends as ever after %s', async (pollution) => {
  expect(
    await run(
      `${pollution}; return String(await agent('q')) + (await parallel([() => agent('r')]))[0] + (await pipeline(['s'], (x) => agent(x)))[0]`,
    ),
  ).toBe('qrs');
  expect(await run(`${pollution}; throw 'told'`)).toContain('told');
});
