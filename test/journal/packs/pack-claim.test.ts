/** A pack has one writer at a time: two would write over each other's records. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { realDisk, type Disk } from '../../../journal/storage/disk.js';
import { packLock, type PackName } from '../../../journal/storage/layout.js';
import { claimPack } from '../../../journal/storage/packs/pack-claim.js';
import { temporaryFolder } from '../support/folder.js';

const NAME: PackName = '1-0a0b0c0d';
const DEAD = JSON.stringify({ pid: 2 ** 22 + 1, started: '7', boot: 'none' });

it('is given to one writer, and to another when it was given back', async () => {
  const folder = temporaryFolder();
  const release = await claimPack(realDisk, folder, NAME);
  expect(release).toBeDefined();
  expect(await claimPack(realDisk, folder, NAME)).toBeUndefined();
  await release?.();
  expect(await claimPack(realDisk, folder, NAME)).toBeDefined();
});

it.each([
  ['of a dead process', DEAD],
  ['whose text a power cut has taken', ''],
])('is taken from a claim %s', async (_, text) => {
  const folder = temporaryFolder();
  writeFileSync(packLock(folder, NAME), text);
  expect(await claimPack(realDisk, folder, NAME)).toBeDefined();
  expect(await claimPack(realDisk, folder, NAME)).toBeUndefined();
});

it('is not taken from a claim that came after none was found', async () => {
  const folder = temporaryFolder();
  const lock = packLock(folder, NAME);
  const first = await claimPack(realDisk, folder, NAME);
  let other: Awaited<ReturnType<typeof claimPack>>;
  const claimBetween = async (): Promise<void> => {
    other ??= await claimPack(realDisk, folder, NAME);
  };
  const disk: Disk = {
    ...realDisk,
    async readWhole(path) {
      if (path === lock) await first?.(); // the pack is given back just then
      return realDisk.readWhole(path);
    },
    async remove(path) {
      if (path === lock) await claimBetween();
      await realDisk.remove(path);
    },
  };
  const claims = [await claimPack(disk, folder, NAME), other];
  expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
});

it('is left to a claim that cannot be read', async () => {
  const folder = temporaryFolder();
  const lock = packLock(folder, NAME);
  writeFileSync(lock, DEAD);
  const disk: Disk = {
    ...realDisk,
    readWhole: async (path) => {
      if (path === lock) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
      return realDisk.readWhole(path);
    },
  };
  expect(await claimPack(disk, folder, NAME)).toBeUndefined();
  expect(existsSync(lock)).toBe(true);
  expect(readdirSync(folder)).toEqual([`${NAME}.lock`]);
});
