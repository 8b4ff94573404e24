/** Covers what only `node` bodies have: modules, timers, globals of their own (NODE-1 to NODE-3); and imports of Node modules. */
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { readAs } from '../../src/values/kinds/native-text.js';
import { openWorld, temporaryFolder } from './support.js';

vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const { world, node, js } = openWorld();
afterAll(() => world.close('done'));

describe('a node body', () => {
  it('requires modules of Node, and those near its directory', async () => {
    const directory = await temporaryFolder();
    await mkdir(join(directory, 'node_modules/tide'), { recursive: true });
    await writeFile(join(directory, 'node_modules/tide/index.js'), 'module.exports = { height: 3 }');
    await writeFile(join(directory, 'near.js'), 'exports.name = "near"');
    const code =
      'return [require("path").basename("a/b.csv"), require("tide").height, require("./near.js").name, require("node:process").cwd()]';
    expect(await node(code, {}, { directory })).toEqual(['b.csv', 3, 'near', directory]);
  });

  it('may import, as a js body may', async () => {
    const code = 'const { basename } = await import("node:path"); return basename("a/b")';
    expect(await node(code)).toBe('b');
    expect(await js(code)).toBe('b');
    expect(await js('import("node:path").then((path) => path.basename("a/b"))')).toBe('b');
  });

  it('gets objects that read as a text, also in a list', async () => {
    const whole = (): object => readAs({ n: 1 }, 'one');
    const code = 'return [String(whole), list.map((one) => `<${one}>`).join(), Object.keys(whole).join()]';
    expect(await node(code, { whole: whole(), list: [whole()] })).toEqual(['one', '<one>', 'n']);
  });

  it('finds files relative to its directory', async () => {
    const directory = await temporaryFolder();
    const before = process.cwd();
    await node('require("fs").writeFileSync("log.txt", "called")', {}, { directory });
    expect(await readFile(join(directory, 'log.txt'), 'utf8')).toBe('called');
    await expect(node('throw new Error("x")', {}, { directory })).rejects.toThrow('x');
    expect(process.cwd()).toBe(before);
  });

  it('has the globals of Node', async () => {
    const code =
      'return [fetch, URL, Buffer, TextEncoder, AbortController, structuredClone, setTimeout, setImmediate, queueMicrotask, performance, atob, crypto.subtle, global === globalThis].map((x) => typeof x)';
    expect(await node(code)).toEqual([
      'function',
      'function',
      'function',
      'function',
      'function',
      'function',
      'function',
      'function',
      'function',
      'object',
      'function',
      'object',
      'boolean',
    ]);
    expect(
      await node(
        'return [new URL("https://quay.example/a").pathname, Buffer.from("é").toString("base64"), new TextEncoder().encode("a") instanceof Uint8Array]',
      ),
    ).toEqual(['/a', 'w6k=', true]);
  });

  it('keeps its globals from us and from other worlds, and finds them again', async () => {
    await node('globalThis.leak = 1; loose = 2; Array.prototype.extra = 3');
    expect(await node('return [leak, loose]')).toEqual([1, 2]);
    expect(await js('return [typeof leak, typeof loose, [].extra]')).toEqual(['undefined', 'undefined', undefined]);
    const other = openWorld();
    expect(await other.node('return [typeof leak, [].extra]')).toEqual(['undefined', undefined]);
    await other.world.close('done');
    await node('delete Array.prototype.extra');
  });

  it('returns objects that this realm recognises, and gets objects that it recognises', async () => {
    const value = (await node('const o = { a: [1, { b: new Date(0) }] }; o.self = o; return o')) as {
      a: [number, { b: Date }];
      self: unknown;
    };
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.a).toBeInstanceOf(Array);
    expect(value.a[1].b).toBeInstanceOf(Date);
    expect(value.self).toBe(value);
    expect(
      await node('return [v instanceof Array, v[0] instanceof Object, require("util").isDeepStrictEqual(v, [{ a: 1 }])]', {
        v: [{ a: 1 }],
      }),
    ).toEqual([true, true, true]);
    expect(Object.keys((await node('return JSON.parse(t)', { t: '{"__proto__": 1}' })) as object)).toEqual(['__proto__']);
  });

  it('recognises errors of modules', async () => {
    const code = 'try { require("fs").readFileSync("/nowhere") } catch (e) { return [e instanceof Error, e instanceof TypeError, e.code] }';
    expect(await node(code)).toEqual([true, false, 'ENOENT']);
    expect(
      await node(
        'class Own extends Error {} return [new Own() instanceof Own, new Error() instanceof Own, new TypeError() instanceof Error]',
      ),
    ).toEqual([true, false, true]);
  });

  it('reports a timer that throws after the call, and continues', async () => {
    const own = openWorld();
    expect(await own.node('setTimeout(() => { throw new Error("late tide") }, 1); return 1')).toBe(1);
    await expect.poll(() => own.out.stderr, { timeout: 20_000 }).toContain('late tide');
    await own.world.close('done');
  });

  it('can clear and promisify its timers', async () => {
    const code = `let n = 0; const i = setInterval(() => n++, 1); await require('util').promisify(setTimeout)(30); clearInterval(i);
      const seen = n; const t = setTimeout(() => n = 1000, 1); clearTimeout(t); await new Promise((done) => setTimeout(done, 20)); return n === seen && n > 0`;
    expect(await node(code)).toBe(true);
  });
});

it('in a program: timers that are left do not keep it alive, those that a call waits for do; bodies may import', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'program.mjs');
  const { build } = await import('esbuild');
  const live = new URL('../../src/world/live.ts', import.meta.url).pathname;
  await build({
    entryPoints: [live],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(folder, 'live.mjs'),
    external: ['tinyglobby'],
    logLevel: 'error',
  });
  await writeFile(
    file,
    `import { createLiveWorld } from ${JSON.stringify(pathToFileURL(join(folder, 'live.mjs')).href)};
    const world = createLiveWorld({ environment: {}, stdin: async () => undefined, stdout: (t) => process.stdout.write(t), stderr: () => {} });
    const node = (code) => world.perform('code.run', { language: 'node', code, variables: {}, unset: [], echo: false });
    await node('setInterval(() => {}, 1000); setTimeout(() => {}, 60000); return 1');
    const { value } = await node('return new Promise((done) => setTimeout(() => done("waited"), 50))');
    const imported = await node('return (await import("node:path")).basename("a/b")');
    console.log(value, imported.value);`,
  );
  // Behind its timeout there is no status.
  const { stdout, status } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: 50_000 });
  expect({ stdout, status }).toEqual({ stdout: 'waited b\n', status: 0 });
});

describe('an import of a Node module', () => {
  const exportsOf = async (module: string, from: string): Promise<Record<string, unknown>> =>
    (await world.perform('node.import', { module, from })).exports;

  it('returns the exports of modules of Node', async () => {
    expect((await exportsOf('path', '/'))['basename']).toBeTypeOf('function');
    expect((await exportsOf('node:url', '/'))['URL']).toBe(URL);
  });

  it('finds packages above a script or folder: CommonJS, modules, and those that can only be imported', async () => {
    const folder = await temporaryFolder();
    const add = async (name: string, files: Record<string, string>): Promise<void> => {
      await mkdir(join(folder, 'node_modules', name), { recursive: true });
      for (const [file, text] of Object.entries(files)) await writeFile(join(folder, 'node_modules', name, file), text);
    };
    await add('common', { 'index.js': 'const made = { late: 1 }; made["com" + "puted"] = 2; module.exports = made' });
    await add('@quay/modern', {
      'package.json': '{"type":"module","exports":{".":{"types":"./x.d.ts","import":{"default":"./main.js"}}}}',
      'main.js': 'export const pier = 4',
    });
    await mkdir(join(folder, 'sub'));
    expect(await exportsOf('common', join(folder, 'sub'))).toMatchObject({ late: 1, computed: 2 });
    expect(await exportsOf('@quay/modern', join(folder, 'sub/script.mld'))).toMatchObject({ pier: 4 });
    await add('broken', { 'package.json': '{' });
    for (const missing of ['absent', 'broken']) {
      await expect(exportsOf(missing, folder)).rejects.toMatchObject({
        code: 'NODE_MODULE_MISSING',
        message: expect.stringContaining(missing) as string,
      });
    }
    await add('throws', { 'index.js': 'throw new Error("at load")' });
    await expect(exportsOf('throws', folder)).rejects.toMatchObject({ code: 'CODE_THREW', message: 'at load' });
  });
});
