/**
 * One process at a time: what decides how a workflow goes on and begins a run accordingly must not be decided twice.
 *
 * X1 A turn is a file with a number. It appears whole under its name, and only once its predecessor is seen to be of a dead process.
 * X2 It is removed by its owner alone. What a dead process left stays: whoever is slow and still wants that number finds it taken.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDurableFolder, writeNew, type Disk } from './disk.js';
import { JournalError } from '../errors.js';
import { thisProcess, isAlive } from './run-liveness.js';

const NAME = /^turn-(\d{1,9})$/;
const LOOK_AGAIN_MS = 20;
/** Deciding takes as long as reading the past of one pipeline. */
const TURN_WAIT_MS = 30_000;

/** Resolves with what ends the turn. Throws `JournalError` JOURNAL_BUSY when another process has it for too long. */
export async function acquireWorkflowLock(disk: Disk, folder: string, waitMs = TURN_WAIT_MS): Promise<() => Promise<void>> {
  await makeDurableFolder(disk, folder);
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    const latest = latestOf(await disk.list(folder));
    if (latest === 0 || !(await isAlive(disk, turnPath(folder, latest)))) {
      const path = turnPath(folder, latest + 1);
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
      if (await writeNew(disk, path, temporary, thisProcess())) return endOf(disk, path);
    }
    if (waitedMs >= waitMs) {
      throw new JournalError('JOURNAL_BUSY', `another process has been beginning a run for ${waitMs / 1000} s`, {
        hint: 'wait for it, or end it',
      });
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Once only: afterwards the name may be another's (X2). */
function endOf(disk: Disk, path: string): () => Promise<void> {
  let ended: Promise<void> | undefined;
  return () => (ended ??= disk.remove(path));
}

function latestOf(names: readonly string[]): number {
  return names.reduce((latest, name) => Math.max(latest, Number(NAME.exec(name)?.[1] ?? 0)), 0);
}

function turnPath(folder: string, number: number): string {
  return join(folder, `turn-${number}`);
}
