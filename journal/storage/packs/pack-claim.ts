/**
 * Gives a pack to one writer at a time, without waiting: who doesn't get it takes another one.
 *
 * CLAIM-1 A claim is a file that appears whole under its name, and never in the place of another: of several writers one gets it.
 * CLAIM-2 Only its owner removes it; that of a dead process is removed under the lock of the folder, by one process at a time, which
 *    looks once more whether its owner is dead. A kill in between leaves the pack unclaimed, or claimed by a dead process.
 * CLAIM-3 Removed is only what was seen to be the claim of a dead process. Where none was found, or it could not be read, a living process
 *    may have claimed the pack since: to remove that claim would give the pack to two writers, and one would overwrite what the other has
 *    acknowledged.
 */
import { randomBytes } from 'node:crypto';
import { codeOf } from '../../errors.js';
import { writeAll, type Disk } from '../disk.js';
import { packLock, type PackName } from '../layout.js';
import { ownerOf, thisProcess } from '../runs/run-liveness.js';
import { acquireWorkflowLock } from '../workflow-lock.js';

/** Returns the function that gives the pack back; undefined when a living process has it, or nobody can say whose it is. */
export async function claimPack(disk: Disk, folder: string, name: PackName): Promise<(() => Promise<void>) | undefined> {
  const lock = packLock(folder, name);
  const release = (): Promise<void> => disk.remove(lock);
  if (await place(disk, lock)) return release;
  const owner = await ownerOf(disk, lock);
  if (owner === 'alive' || owner === 'unreadable') return undefined;
  if (owner === 'dead') {
    const unlock = await acquireWorkflowLock(disk, folder);
    try {
      if ((await ownerOf(disk, lock)) === 'dead') await disk.remove(lock); // CLAIM-2, CLAIM-3
    } finally {
      await unlock();
    }
  }
  return (await place(disk, lock)) ? release : undefined;
}

/** CLAIM-1. Nothing is synced: a claim means nothing after a power cut. */
async function place(disk: Disk, lock: string): Promise<boolean> {
  const temporary = `${lock}.${randomBytes(6).toString('hex')}.tmp`;
  const file = disk.create(temporary);
  try {
    try {
      writeAll(disk, file, thisProcess());
    } finally {
      disk.close(file);
    }
    await disk.link(temporary, lock);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    await disk.remove(temporary).catch(() => undefined); // a leftover is harmless
  }
}
