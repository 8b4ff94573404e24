/** Reads and writes files whole and in order (FILE-1, FILE-2). */
import { spawn } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readFile, readdir, readlink, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FILE_BYTES_MAX } from '../../src/world/files/files.js';
import { openWorld, temporaryFolder } from './support.js';

vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const { world } = openWorld();
afterAll(() => world.close('done'));
let folder = '';
beforeEach(async () => {
  folder = await temporaryFolder();
});
const at = (...names: string[]): string => join(folder, ...names);
const write = (path: string, text: string) => world.perform('file.write', { path, text });

describe('reading', () => {
  it.each(['', 'a', '\uFEFFwith a mark\r\n ', 'ünï ☃ 🚢\n', 'x'.repeat(300_000)])('returns the exact text (%#)', async (text) => {
    await writeFile(at('f'), text);
    expect(await world.perform('file.read', { path: at('f') })).toEqual({ text });
  });

  it('returns bytes that are not text, and restores them as they were', async () => {
    const content = Buffer.from([0xff, 0, 0xfe, 0x0a, 0xc3]);
    await writeFile(at('f'), content);
    const answer = await world.perform('file.bytes', { path: at('f') });
    expect(answer).toEqual({ base64: content.toString('base64') });
    await world.perform('file.restore', { path: at('new', 'folder', 'g'), base64: content.toString('base64') });
    expect(await readFile(at('new', 'folder', 'g'))).toEqual(content);
    expect(await world.perform('file.bytes', { path: at('none') })).toMatchObject({ missing: 'absent' });
    expect(await world.perform('file.bytes', { path: folder })).toMatchObject({ missing: 'directory' });
  });

  it('reads files whose size the system does not tell', async () => {
    const answer = await world.perform('file.read', { path: '/proc/self/status' });
    expect(answer).toMatchObject({ text: expect.stringContaining('Pid:') as string });
  });

  it('says why there is no text', async () => {
    await writeFile(at('file'), '');
    await writeFile(at('large'), '');
    await truncate(at('large'), FILE_BYTES_MAX + 1);
    await symlink('loop', at('loop'));
    const why = async (path: string) => ((await world.perform('file.read', { path })) as { missing?: string }).missing;
    expect(await why(at('none'))).toBe('absent');
    expect(await why(at('file', 'below'))).toBe('absent');
    expect(await why(folder)).toBe('directory');
    expect(await why(at('large'))).toBe('too-large');
    expect(await why('/dev/zero')).toBe('too-large');
    expect(await why(at('loop'))).toBe('unreadable');
  });
});

describe('writing', () => {
  it('replaces the file, makes folders, leaves nothing else behind', async () => {
    await write(at('a/b/f.txt'), 'one');
    await write(at('a/b/f.txt'), 'ünï ☃');
    expect(await readFile(at('a/b/f.txt'), 'utf8')).toBe('ünï ☃');
    expect(await readdir(at('a/b'))).toEqual(['f.txt']);
  });

  it('keeps the mode of a file, and gives a new one the usual mode', async () => {
    await writeFile(at('run.sh'), 'old');
    await chmod(at('run.sh'), 0o750);
    await write(at('run.sh'), 'new');
    expect((await stat(at('run.sh'))).mode & 0o777).toBe(0o750);
    await write(at('fresh'), 'new');
    expect((await stat(at('fresh'))).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('writes through symbolic links, also to what does not exist yet', async () => {
    await mkdir(at('real'));
    await writeFile(at('real/f'), 'old');
    await symlink('real/f', at('one'));
    await symlink('one', at('two'));
    await write(at('two'), 'new');
    expect(await readlink(at('two'))).toBe('one');
    expect((await lstat(at('one'))).isSymbolicLink()).toBe(true);
    expect(await readFile(at('real/f'), 'utf8')).toBe('new');
    await symlink('real/later', at('dangling'));
    await write(at('dangling'), 'made');
    expect(await readFile(at('real/later'), 'utf8')).toBe('made');
  });

  it('writes to a device instead of replacing it', async () => {
    await symlink('/dev/null', at('sink'));
    await write(at('sink'), 'gone');
    expect((await stat(at('sink'))).isCharacterDevice()).toBe(true);
  });

  it.runIf(process.getuid?.() === 0)('keeps the owner of a file', async () => {
    await writeFile(at('theirs'), 'old');
    await chown(at('theirs'), 4321, 4322);
    await chmod(at('theirs'), 0o4755);
    await write(at('theirs'), 'new');
    const { uid, gid, mode } = await stat(at('theirs'));
    expect([uid, gid, mode & 0o7777]).toEqual([4321, 4322, 0o4755]);
  });

  it('says why it could not', async () => {
    await writeFile(at('file'), '');
    await expect(write(folder, 'x')).rejects.toMatchObject({
      code: 'FILE_NOT_WRITTEN',
      message: expect.stringContaining('it is a directory') as string,
    });
    await expect(write(at('file/below'), 'x')).rejects.toMatchObject({
      code: 'FILE_NOT_WRITTEN',
      message: expect.stringContaining('not a directory') as string,
    });
    await symlink('round', at('round'));
    await expect(write(at('round'), 'x')).rejects.toMatchObject({ message: expect.stringContaining('symbolic links') as string });
    await expect(world.perform('file.append', { path: folder, text: 'x' })).rejects.toMatchObject({ code: 'FILE_NOT_WRITTEN' });
    expect(await readdir(folder)).toEqual(['file', 'round']);
  });

  it('appends and writes in the order in which they were requested', async () => {
    const path = at('log');
    const asked = Array.from({ length: 200 }, (_, i) => world.perform('file.append', { path, text: `${i}\n` }));
    asked.push(write(path, 'again\n'), world.perform('file.append', { path, text: 'last\n' }));
    await asked[199];
    expect((await readFile(path, 'utf8')).startsWith('0\n1\n2\n')).toBe(true);
    await Promise.all(asked);
    expect(await readFile(path, 'utf8')).toBe('again\nlast\n');
  });

  it('continues after a failure on the same path', async () => {
    const path = at('later');
    await mkdir(path);
    const failed = world.perform('file.append', { path, text: 'x' });
    await expect(failed).rejects.toMatchObject({ code: 'FILE_NOT_WRITTEN' });
    await expect(world.perform('file.append', { path: at('later/in'), text: 'x' })).resolves.toEqual({});
  });

  it('never shows half a text under the name, however often the writer is killed', async () => {
    const { build } = await import('esbuild');
    const source = new URL('../../src/world/files/replace-file.ts', import.meta.url).pathname;
    await build({ entryPoints: [source], bundle: true, platform: 'node', format: 'esm', outfile: at('replace.mjs'), logLevel: 'error' });
    await mkdir(at('out'));
    const program = `import { replaceFile } from ${JSON.stringify(pathToFileURL(at('replace.mjs')).href)};
      console.log('ready'); for (let i = 0; ; i++) await replaceFile(process.argv[1], String(i % 10).repeat(2_000_000));`;
    await write(at('out/f'), '9'.repeat(2_000_000));
    for (let round = 0; round < 8; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program, at('out/f')], { stdio: ['ignore', 'pipe', 'ignore'] });
      await new Promise((resolve) => child.stdout.once('data', resolve));
      await new Promise((resolve) => setTimeout(resolve, 3 + round * 7));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      const text = await readFile(at('out/f'), 'utf8');
      expect(text.length).toBe(2_000_000);
      expect(text).toBe((text[0] ?? '').repeat(2_000_000));
    }
    expect((await world.perform('file.glob', { root: at('out'), pattern: '*' })).paths).toEqual([at('out/f')]);
  });
});

describe('looking around', () => {
  it('tells files from folders, through links', async () => {
    await mkdir(at('d'));
    await writeFile(at('f'), '');
    await symlink('d', at('ld'));
    await symlink('nowhere', at('lost'));
    const kind = async (name: string) => (await world.perform('file.stat', { path: at(name) })).kind;
    expect([await kind('d'), await kind('f'), await kind('ld'), await kind('lost'), await kind('none')]).toEqual([
      'directory',
      'file',
      'directory',
      'none',
      'none',
    ]);
    expect(await world.perform('file.list', { path: folder })).toEqual({ files: ['f', 'lost'], folders: ['d', 'ld'] });
    await expect(world.perform('file.list', { path: at('none') })).rejects.toMatchObject({
      code: 'FOLDER_NOT_READ',
      message: expect.stringContaining('does not exist') as string,
    });
  });

  it('knows names like one that is missing', async () => {
    for (const name of ['gull.json', 'Guide.md', 'tern.json', 'notes.txt']) await writeFile(at(name), '');
    const similar = async (...names: string[]) => (await world.perform('file.similar', { path: at(...names) })).names;
    expect(await similar('gul.json')).toEqual(['gull.json']);
    expect((await similar('ugll.json'))[0]).toBe('gull.json');
    expect(await similar('guide.md')).toEqual(['Guide.md']);
    expect(await similar('zzzzzz')).toEqual([]);
    await mkdir(at('ships'));
    expect(await similar('shps', 'deep', 'gull.json')).toEqual(['ships']);
  });
});
