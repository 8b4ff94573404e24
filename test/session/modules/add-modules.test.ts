/** Adding, restoring, removing and comparing modules, from a server of this process. docs/decisions/0047-modules.md. */
import fs from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addModules, type AddTarget } from '../../../src/session/modules/add-modules.js';
import { listModules, outdatedModules, removeModules, verifyModules } from '../../../src/session/modules/look-at-modules.js';
import { findProject } from '../../../src/session/project.js';
import { sha256Of } from '../../../src/world/modules/module-files.js';
import { projectFolder } from '../../support/cli.js';

const FMT = '---\nname: fmt\nauthor: m\nversion: 2.1.0\nabout: brackets\n---\n\n/exe @fmt(t) = `[@t]`\n';
const texts: Record<string, string> = {
  '/fmt.mld.md': FMT,
  '/poll.mld': '---\nname: poll\nauthor: m\nversion: 0.9.0\n---\nimport { @fmt } from @m/fmt@^2.0.0\nexe @poll(n) = @fmt(`@n`)\nrun sh { touch executed }\n',
  '/one.mld': 'import { two } from @m/two\nvar @one = 1\n',
  '/two.mld': 'import { one } from @m/one\nvar @two = 2\n',
  '/rel.mld': 'import { x } from "./x.mld"\n',
  '/att.mld': 'exe @p(a) = template "./p.att"\n',
  '/strict.mld': 'import { @fmt } from @m/fmt@^1.0.0\n',
  '/plain.mld': 'var @a = 1\n',
  '/version.mld': '---\nversion: a b\n---\nvar @a = 1\n',
  '/broken.mld': 'var @ = 1\n',
}; // prettier-ignore
const index = {
  modules: {
    '@m/fmt': { version: '2.1.0', source: { type: 'github', url: 'fmt.mld.md', contentHash: sha256Of(Buffer.from(FMT)) } },
    '@m/poll': { version: '1.0.0', source: { url: 'poll.mld' }, versions: { '0.9.0': { url: 'poll.mld' } } },
    '@m/one': { source: 'one.mld' },
    '@m/two': { source: 'two.mld' },
    '@m/wrong': { url: 'fmt.mld.md', sha256: '0'.repeat(64) },
    '@m/odd': { url: 'fmt.mld.md', sha256: 'md5:1' },
    '@m/lost': { url: 'lost.mld' },
    '@m/needy': { url: 'strict.mld' },
  },
};

let server: Server;
let base: string;
let asked: string[] = [];
let onAsked = (): void => undefined;

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    asked.push(url);
    onAsked();
    const text = url === '/modules.json' ? JSON.stringify(index) : texts[url];
    if (text === undefined) response.writeHead(404).end();
    else response.end(text);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => void server.close());

async function project(files: Record<string, string> = {}) {
  const root = await projectFolder({ 'mlld-config.json': JSON.stringify({ modules: { registry: `${base}/modules.json` } }), ...files });
  asked = [];
  onAsked = () => undefined;
  return findProject(root);
}

const named = (...names: readonly string[]): AddTarget[] => names.map((name) => ({ kind: 'name', name }));
const lockOf = (root: string) =>
  JSON.parse(fs.readFileSync(path.join(root, 'mlld-lock.json'), 'utf8')) as { modules: Record<string, Record<string, unknown>> };
const changes = (added: Awaited<ReturnType<typeof addModules>>) => added.map(({ name, version, change }) => `${change} ${name} ${version}`);

describe('mlld modules add', () => {
  it('adds a module of the registry and what it imports, and runs none of it', async () => {
    const own = await project();
    expect(changes(await addModules(own, { targets: named('@m/poll') }))).toEqual(['added @m/poll 1.0.0', 'added @m/fmt 2.1.0']);
    expect(asked).toEqual(['/modules.json', '/poll.mld', '/fmt.mld.md']);
    const { modules } = lockOf(own.root);
    expect(Object.keys(modules)).toEqual(['@m/fmt', '@m/poll']);
    expect(modules['@m/fmt']).toEqual({
      version: '2.1.0',
      sha256: sha256Of(Buffer.from(FMT)),
      format: 'mld.md',
      source: `${base}/fmt.mld.md`,
      registry: `${base}/modules.json`,
      transitive: true,
    });
    expect(modules['@m/poll']).toMatchObject({ imports: ['@m/fmt'] });
    expect(fs.readdirSync(own.root).sort()).toEqual(['.mlld', 'mlld-config.json', 'mlld-lock.json']);
    expect(await verifyModules(own)).toMatchObject({ valid: true, unused: [] });
  });

  it('ends with modules that import each other', async () => {
    expect(changes(await addModules(await project(), { targets: named('@m/one') }))).toEqual(['added @m/one null', 'added @m/two null']);
  });

  it('leaves alone what is there and only imported, and folders of the project', async () => {
    const own = await project({ 'fmt.mld': 'var @fmt = 1\n' });
    await addModules(own, { targets: [{ kind: 'file', absolute: path.join(own.root, 'fmt.mld') }], as: '@m/fmt' });
    await expect(addModules(own, { targets: named('@m/poll') })).rejects.toMatchObject({ code: 'MODULE_VERSION' });
    const local = await project({ 'mlld-config.json': JSON.stringify({ modules: { registry: `${base}/modules.json` }, resolverPrefixes: [{ prefix: '@m/', basePath: 'lib' }] }) }); // prettier-ignore
    expect(changes(await addModules(local, { targets: named('@m/poll') }))).toEqual(['added @m/poll 1.0.0']);
  });

  it.each<[string, AddTarget, string | undefined, string, RegExp]>([
    ['a name that the index lacks', { kind: 'name', name: '@m/none' }, undefined, 'MODULE_NOT_FOUND', /the index has no @m\/none/],
    ['a version that the index lacks', { kind: 'name', name: '@m/poll@3' }, undefined, 'MODULE_NOT_FOUND', /in the versions 1.0.0, 0.9.0, and not 3/],
    ['another digest than the index has', { kind: 'name', name: '@m/wrong' }, undefined, 'MODULE_CHANGED', /differs/],
    ['a digest that is not understood', { kind: 'name', name: '@m/odd' }, undefined, 'MODULE_NOT_FOUND', /unknown form/],
    ['a file that is gone', { kind: 'name', name: '@m/lost' }, undefined, 'MODULE_FETCH', /404/],
    ['an import that does not fit', { kind: 'name', name: '@m/needy' }, undefined, 'MODULE_VERSION', /@m\/needy imports @m\/fmt@\^1.0.0/],
    ['no name of a module', { kind: 'name', name: '@a/../../x' }, undefined, 'MODULE_NAME', /not the name/],
    ['files beside it', { kind: 'file', absolute: 'rel.mld' }, '@m/rel', 'MODULE_NOT_ALONE', /\.\/x\.mld/],
    ['templates beside it', { kind: 'file', absolute: 'att.mld' }, '@m/att', 'MODULE_NOT_ALONE', /\.\/p\.att/],
    ['no name at all', { kind: 'file', absolute: 'plain.mld' }, undefined, 'MODULE_UNNAMED', /frontmatter/],
    ['a bad name', { kind: 'file', absolute: 'plain.mld' }, '@m/../x', 'MODULE_NAME', /not the name/],
    ['a version that is none', { kind: 'file', absolute: 'version.mld' }, '@m/v', 'MODULE_VERSION', /"a b"/],
    ['a mistake in it', { kind: 'file', absolute: 'broken.mld' }, '@m/b', 'SYNTAX', /Expected a name/],
    ['bytes that are no text', { kind: 'file', absolute: 'bytes.mld' }, '@m/b', 'MODULE_NOT_TEXT', /UTF-8/],
    ['another kind of file', { kind: 'file', absolute: 'x.txt' }, '@m/b', 'MODULE_FORMAT', /\.txt/],
    ['no file', { kind: 'file', absolute: 'none.mld' }, '@m/b', 'FILE_NOT_FOUND', /no such file/],
    ['plain HTTP', { kind: 'address', address: 'http://x.example/a.mld' }, '@m/b', 'MODULE_FETCH', /not encrypted/],
  ])('refuses %s, and changes nothing', async (_about, target, as, code, message) => {
    const own = await project(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name.slice(1), text])));
    fs.writeFileSync(path.join(own.root, 'bytes.mld'), Buffer.from([0x76, 0xff, 0xfe]));
    const absolute = target.kind === 'file' ? { ...target, absolute: path.join(own.root, target.absolute) } : target;
    const failed = addModules(own, { targets: [...named('@m/fmt'), absolute].slice(as === undefined ? 0 : 1), ...(as !== undefined && { as }) });
    await expect(failed).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(fs.existsSync(path.join(own.root, 'mlld-lock.json'))).toBe(false);
    expect(fs.existsSync(path.join(own.root, '.mlld'))).toBe(false);
  }); // prettier-ignore

  it('says which file of its own it can not write, and leaves the lock', async () => {
    const own = await project();
    fs.mkdirSync(path.join(own.root, '.mlld/modules'), { recursive: true });
    fs.symlinkSync(own.root, path.join(own.root, '.mlld/modules', sha256Of(Buffer.from(FMT))));
    await expect(addModules(own, { targets: named('@m/fmt') })).rejects.toMatchObject({
      code: 'MODULE_DISK',
      message: expect.stringMatching(/^The file of @m\/fmt can't be .* is a link/) as string,
    });
    expect(fs.existsSync(path.join(own.root, 'mlld-lock.json'))).toBe(false);
    fs.mkdirSync(path.join(own.root, 'mlld-lock.json'));
    await expect(verifyModules(own)).rejects.toMatchObject({ code: 'MODULE_DISK', message: expect.stringMatching(/^mlld-lock/) as string });
  });

  it('keeps what another command added while it was fetching', async () => {
    const own = await project();
    const file = path.join(own.root, 'mlld-lock.json');
    const other = { version: '1.0.0', sha256: 'a'.repeat(64), format: 'mld', source: 'o.mld' };
    onAsked = () => fs.writeFileSync(file, JSON.stringify({ modules: { '@m/other': other } }));
    await addModules(own, { targets: named('@m/one') });
    expect(lockOf(own.root).modules['@m/other']).toEqual(other);
    expect(Object.keys(lockOf(own.root).modules)).toEqual(['@m/one', '@m/other', '@m/two']);
  });

  it('restores what the lock lists and is not there, and nothing else', async () => {
    const own = await project({ 'plain.mld': 'var @a = 1\n' });
    await addModules(own, { targets: named('@m/fmt') });
    await addModules(own, { targets: [{ kind: 'file', absolute: path.join(own.root, 'plain.mld') }], as: '@m/plain' });
    const lock = fs.readFileSync(path.join(own.root, 'mlld-lock.json'), 'utf8');
    fs.rmSync(path.join(own.root, '.mlld'), { recursive: true });
    expect(await verifyModules(own)).toMatchObject({ valid: false, modules: [{ file: 'missing' }, { file: 'missing' }] });
    expect(changes(await addModules(own, { targets: [] }))).toEqual(['restored @m/fmt 2.1.0', 'restored @m/plain null']);
    expect(await verifyModules(own)).toMatchObject({ valid: true });
    expect(fs.readFileSync(path.join(own.root, 'mlld-lock.json'), 'utf8')).toBe(lock);
    fs.rmSync(path.join(own.root, '.mlld'), { recursive: true });
    fs.writeFileSync(path.join(own.root, 'plain.mld'), 'var @a = 2\n');
    await expect(addModules(own, { targets: [] })).rejects.toMatchObject({ code: 'MODULE_CHANGED' });
  });
});

describe('the modules of a project', () => {
  it('are listed with the scripts that name them', async () => {
    const own = await project({
      'llm/run/job.mld': 'import { poll } from @m/poll\n',
      'other.mld': 'import { x } from @m/poll-two\n',
      'mlld-config.json': JSON.stringify({ modules: { registry: `${base}/modules.json`, folder: 'vendor' } }),
    });
    await addModules(own, { targets: named('@m/poll') });
    const { modules } = await listModules(own);
    expect(modules).toMatchObject([
      { name: '@m/fmt', usedBy: ['@m/poll'], file: 'verified', transitive: true },
      { name: '@m/poll', usedBy: ['llm/run/job.mld'], path: expect.stringMatching(/^vendor\/[0-9a-f]{64}\/poll\.mld$/) as string },
    ]);
  });

  it('are removed with what only they import, and with files that no lock names', async () => {
    const own = await project();
    await addModules(own, { targets: named('@m/poll') });
    await expect(removeModules(own, ['@m/fmt'], 'keep')).rejects.toMatchObject({ code: 'MODULE_IN_USE' });
    await expect(removeModules(own, ['@m/pol'], 'keep')).rejects.toMatchObject({ code: 'UNKNOWN_MODULE', hint: 'did you mean @m/poll?' });
    const stray = path.join(own.root, '.mlld/modules', 'f'.repeat(64));
    fs.mkdirSync(stray);
    expect(await removeModules(own, ['@m/poll'], 'keep')).toMatchObject({ removed: ['@m/poll', '@m/fmt'], deleted: { length: 2 } });
    expect(lockOf(own.root).modules).toEqual({});
    expect(fs.existsSync(stray)).toBe(true);
    expect((await verifyModules(own)).unused).toEqual(['f'.repeat(64)]);
    expect(await removeModules(own, [], 'delete')).toEqual({ removed: [], deleted: ['f'.repeat(64)] });
  });

  it('keep a module that was added by itself, and one that another still imports', async () => {
    const own = await project({ 'uses.mld': 'import { fmt } from @m/fmt\n' });
    await addModules(own, { targets: named('@m/poll') });
    await addModules(own, { targets: [{ kind: 'file', absolute: path.join(own.root, 'uses.mld') }], as: '@m/uses' });
    expect((await removeModules(own, ['@m/poll'], 'keep')).removed).toEqual(['@m/poll']);
    await addModules(own, { targets: named('@m/fmt') });
    expect((await removeModules(own, ['@m/uses'], 'keep')).removed).toEqual(['@m/uses']);
    expect(Object.keys(lockOf(own.root).modules)).toEqual(['@m/fmt']);
  });

  it('are outdated where their source has something else', async () => {
    const own = await project({ 'plain.mld': 'var @a = 1\n', 'gone.mld': 'var @a = 1\n' });
    await addModules(own, { targets: named('@m/fmt', '@m/poll@0.9') });
    for (const file of ['plain', 'gone'])
      await addModules(own, { targets: [{ kind: 'file', absolute: path.join(own.root, `${file}.mld`) }], as: `@m/${file}` });
    fs.writeFileSync(path.join(own.root, 'plain.mld'), '---\nversion: 2.0.0\n---\nvar @a = 2\n');
    fs.rmSync(path.join(own.root, 'gone.mld'));
    expect(await outdatedModules(own)).toEqual([
      { name: '@m/fmt', version: '2.1.0', latest: '2.1.0', state: 'current' },
      { name: '@m/gone', version: null, latest: null, state: 'unknown', reason: expect.stringContaining('no such file') as string },
      { name: '@m/plain', version: null, latest: '2.0.0', state: 'outdated' },
      { name: '@m/poll', version: '0.9.0', latest: '1.0.0', state: 'outdated' },
    ]);
  });
});
