/** The folders in which a worker executes calls. team-store.md 7.2. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export function makeWorkerFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'mlld-worker-'));
}

/** Makes an empty folder for one call. */
export function makeCallFolder(workerFolder: string): Promise<string> {
  return mkdtemp(path.join(workerFolder, 'call-'));
}

/** A folder that can't be removed is left: it is below the temporary folder of the system. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}
