/**
 * The contract of every world: the live one, or one that replays a recording of the same effects in the same order. The last case
 * closes the world.
 */
import { describe, expect, it } from 'vitest';
import type { World } from '../../src/world/world.js';

export function worldContract(name: string, open: () => Promise<{ world: World; folder: string }>): void {
  describe(`the ${name} world`, async () => {
    const { world, folder } = await open();
    const path = `${folder}/sub/note.txt`;
    const code = { unset: [], echo: false } as const;

    it('reads back what was written and appended', async () => {
      expect(await world.perform('file.read', { path })).toMatchObject({ missing: 'absent' });
      expect(await world.perform('file.write', { path, text: 'one\n' })).toEqual({});
      expect(await world.perform('file.append', { path, text: '☃' })).toEqual({});
      expect(await world.perform('file.read', { path })).toEqual({ text: 'one\n☃' });
    });

    it('returns another result for another request, and the same for the same request', async () => {
      expect(await world.perform('file.stat', { path })).toEqual({ kind: 'file' });
      expect(await world.perform('file.stat', { path: folder })).toEqual({ kind: 'directory' });
      expect(await world.perform('file.stat', { path })).toEqual({ kind: 'file' });
      expect(await world.perform('file.list', { path: folder })).toEqual({ files: [], folders: ['sub'] });
      expect(await world.perform('file.glob', { root: folder, pattern: '**/*.txt' })).toEqual({ paths: [path] });
      expect(await world.perform('file.similar', { path: `${folder}/sub/nots.txt` })).toEqual({ names: ['note.txt'] });
    });

    it('runs commands: output, error output, status', async () => {
      const answer = await world.perform('command.run', {
        language: 'sh',
        code: 'echo "$v"; echo err >&2; exit 3',
        directory: folder,
        variables: { v: [1, 'two'] },
      });
      expect(answer).toMatchObject({ stdout: '1\ntwo\n', stderr: 'err\n', exitCode: 3 });
    });

    it('runs code: value and log', async () => {
      const js = await world.perform('code.run', {
        ...code,
        language: 'js',
        code: 'console.log("said"); return { twice: x * 2 }',
        variables: { x: 4 },
      });
      expect(js).toEqual({ value: { twice: 8 }, log: 'said\n' });
      const node = await world.perform('code.run', { ...code, language: 'node', code: 'return [x, null]', variables: { x: 'a' } });
      expect(node).toEqual({ value: ['a', null], log: '' });
    });

    it('fails with a code and a message', async () => {
      const failing = world.perform('code.run', { ...code, language: 'js', code: 'throw new Error("no tide")', variables: {} });
      await expect(failing).rejects.toMatchObject({ name: 'WorldError', code: 'CODE_THREW', message: 'no tide' });
    });

    it('sleeps, and tells the time in milliseconds', async () => {
      const { ms: before } = await world.perform('clock.now', {});
      expect(await world.perform('clock.sleep', { ms: 20 })).toEqual({});
      const { ms: after } = await world.perform('clock.now', {});
      expect(after - before).toBeGreaterThanOrEqual(19);
    });

    it('reads standard input as often as requested', async () => {
      expect(await world.perform('stdin.read', {})).toEqual({ text: 'piped' });
      expect(await world.perform('stdin.read', {})).toEqual({ text: 'piped' });
    });

    it('returns the environment by names and prefixes, with what was set', async () => {
      expect(await world.perform('env.read', { names: ['SHIP', 'NONE'], prefixes: ['MLLD_'] })).toEqual({
        values: { SHIP: 'gull', MLLD_PORT: '7' },
      });
      expect(await world.perform('env.set', { name: 'MLLD_HOLD', value: 'aft' })).toEqual({});
      expect(await world.perform('env.read', { names: [], prefixes: ['MLLD_'] })).toEqual({ values: { MLLD_PORT: '7', MLLD_HOLD: 'aft' } });
    });

    it('writes to its streams', async () => {
      expect(await world.perform('stream.write', { stream: 'stdout', text: 'shown\n' })).toEqual({});
    });

    it('refuses questions after it was closed', async () => {
      await world.close('the end');
      await expect(world.perform('clock.now', {})).rejects.toMatchObject({ name: 'WorldError', code: 'INTERRUPTED' });
      await expect(world.perform('file.stat', { path })).rejects.toThrow('the end');
    });
  });
}
