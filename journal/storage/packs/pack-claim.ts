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
import { bufferOf } from '../../lines/line-buffer.js';
import { isOwnerAlive, thisProcess } from '../runs/run-liveness.js';
import { acquireWorkflowLock } from '../workflow-lock.js';

/** Returns the function that gives the pack back; undefined when a living process has it. */
export async function claimPack(disk: Disk, folder: string, name: PackName): Promise<(() => Promise<void>) | undefined> {
  const lock = packLock(folder, name);
  const release = (): Promise<void> => disk.remove(lock);
  if (await place(disk, lock)) return release;
  const claim = await readClaim(disk, lock);
  if (claim === 'held') return undefined;
  if (claim === 'abandoned') {
    const unlock = await acquireWorkflowLock(disk, folder);
    try {
      if ((await readClaim(disk, lock)) === 'abandoned') await disk.remove(lock); // CLAIM-2
    } finally {
      await unlock();
    }
  }
  return (await place(disk, lock)) ? release : undefined;
}

/** CLAIM-3 */
async function readClaim(disk: Disk, lock: string): Promise<'none' | 'held' | 'abandoned'> {
  let text: string;
  try {
    text = bufferOf(await disk.readWhole(lock)).toString();
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'none' : 'held';
  }
  return isOwnerAlive(ownerIn(text)) ? 'held' : 'abandoned';
}

/** Undefined where a power cut has taken the text. */
function ownerIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
