/** The live world keeps the contract of worlds, and reads nothing of the host later (WORLD-3). */
import { expect, it } from 'vitest';
import { openWorld, temporaryFolder } from './support.js';
import { worldContract } from './world-contract.js';

const PATH = process.env['PATH'];

worldContract('live', async () => {
  const { world } = openWorld({ environment: { PATH, SHIP: 'gull', MLLD_PORT: '7', NONE: undefined }, stdin: async () => 'piped' });
  return { world, folder: await temporaryFolder() };
});

it('asks for standard input once, and only when it is needed', async () => {
  let asked = 0;
  const { world } = openWorld({ stdin: async () => `text ${++asked}` });
  expect(asked).toBe(0);
  const texts = await Promise.all([world.perform('stdin.read', {}), world.perform('stdin.read', {})]);
  expect(texts).toEqual([{ text: 'text 1' }, { text: 'text 1' }]);
  await world.close('done');
});

it('says that there is no standard input', async () => {
  const { world } = openWorld();
  expect(await world.perform('stdin.read', {})).toEqual({});
  await world.close('done');
});

it('changes its own environment only', async () => {
  const environment = { PATH, SHIP: 'gull' };
  const one = openWorld({ environment });
  const two = openWorld({ environment });
  await one.world.perform('env.set', { name: 'SHIP', value: 'tern' });
  expect(environment.SHIP).toBe('gull');
  expect(await two.world.perform('env.read', { names: ['SHIP'], prefixes: [] })).toEqual({ values: { SHIP: 'gull' } });
  await Promise.all([one.world.close('done'), two.world.close('done')]);
});

it('writes each stream where it belongs', async () => {
  const { world, out, node } = openWorld();
  await world.perform('stream.write', { stream: 'stdout', text: 'a' });
  await world.perform('stream.write', { stream: 'stderr', text: 'b' });
  await node('process.stdout.write("c"); process.stderr.write(Buffer.from("☃"))');
  expect(out).toEqual({ stdout: 'ac', stderr: 'b☃' });
  await world.close('done');
});

it('finishes a write that was requested before it is closed', async () => {
  const folder = await temporaryFolder();
  const { world } = openWorld();
  const path = `${folder}/f`;
  const writing = world.perform('file.write', { path, text: 'x'.repeat(5_000_000) });
  writing.catch(() => undefined);
  await world.close('done');
  const { readdir, stat } = await import('node:fs/promises');
  expect(await readdir(folder)).toEqual(['f']);
  expect((await stat(path)).size).toBe(5_000_000);
});
