/**
 * Held while a process decides how to resume a workflow and starts the new run, so that two processes cannot decide differently.
 *
 * WORKFLOW-LOCK-1 The lock is a file with a number. It appears whole under its name, and only once the file with the number before it
 *    belongs to a dead process.
 * WORKFLOW-LOCK-2 Only its owner removes it. The file of a dead process is kept: a slow process that still wants that number finds it
 *    taken.
 * WORKFLOW-LOCK-3 A process that has made its file has the lock only if no other file belongs to a live process. Without this look, one
 *    that had listed the folder before the owner left would take the next number, while another began again with the first.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDurableFolder, writeNew, type Disk } from './disk.js';
import { JournalError } from '../errors.js';
import { thisProcess, isAlive } from './runs/run-liveness.js';

const NAME = /^turn-(\d{1,9})$/;
const RETRY_MS = 20;
/** Deciding takes as long as reading the prior runs of one pipeline. */
const LOCK_WAIT_MS = 30_000;

/** Resolves with the function that releases the lock. Throws `JournalError` JOURNAL_BUSY when another process holds it for too long. */
export async function acquireWorkflowLock(
  disk: Disk,
  folder: string,
  waitMs = LOCK_WAIT_MS,
  other = 'is starting a run of this workflow',
): Promise<() => Promise<void>> {
  await makeDurableFolder(disk, folder);
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    const latest = latestOf(await disk.list(folder));
    if (latest === 0 || !(await isAlive(disk, numberedPath(folder, latest)))) {
      const path = numberedPath(folder, latest + 1);
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
      if (await writeNew(disk, path, temporary, thisProcess())) {
        const release = releaseOf(disk, path);
        if (!(await isHeldBeside(disk, folder, latest + 1))) return release;
        await release();
      }
    }
    if (waitedMs >= waitMs) {
      throw new JournalError('JOURNAL_BUSY', `timed out after ${waitMs / 1000} s waiting for another process that ${other}`, {
        hint: 'wait for it, or end it',
      });
    }
    await sleep(RETRY_MS * (1 + Math.random())); // two that have both stepped back don't meet again
  }
}

/** WORKFLOW-LOCK-3 */
async function isHeldBeside(disk: Disk, folder: string, own: number): Promise<boolean> {
  for (const name of await disk.list(folder)) {
    const number = Number(NAME.exec(name)?.[1] ?? own);
    if (number !== own && (await isAlive(disk, numberedPath(folder, number)))) return true;
  }
  return false;
}

/** Removes the file once only: afterwards the name may belong to another process (WORKFLOW-LOCK-2). */
function releaseOf(disk: Disk, path: string): () => Promise<void> {
  let released: Promise<void> | undefined;
  return () => (released ??= disk.remove(path));
}

function latestOf(names: readonly string[]): number {
  return names.reduce((latest, name) => Math.max(latest, Number(NAME.exec(name)?.[1] ?? 0)), 0);
}

function numberedPath(folder: string, number: number): string {
  return join(folder, `turn-${number}`);
}
