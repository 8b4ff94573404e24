/**
 * The folders in which a worker executes calls. team-store.md 7.2.
 *
 * WORKER-FOLDER-1 A folder says which process has it. It is removed when that one is known to be gone: a process of another machine,
 *    another boot or another container may be at work in a shared temporary folder.
 * WORKER-FOLDER-2 The note goes last: what a killed removal leaves is removed by the next one.
 * WORKER-FOLDER-3 A call gets an empty folder. One that a call left empty serves the next, because to make and remove them costs more than
 *    a short call.
 */
import { readdirSync } from 'node:fs';
import { lstat, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getuid } from 'node:process';
import { describeProcess, hasDied } from '../../../journal/postgres/writer-process.js';

const PREFIX = 'mlld-worker-';
const NOTE = '.process';
/** A folder without a note belongs to a process that has just made it, or was killed before it wrote one. */
const WITHOUT_NOTE_MS = 60_000;

/** Also removes the folders of workers that are gone. */
export async function makeWorkerFolder(): Promise<string> {
  await removeLeftFolders();
  const folder = await mkdtemp(path.join(tmpdir(), PREFIX));
  await writeFile(path.join(folder, NOTE), describeProcess(), { flag: 'wx' });
  return folder;
}

/** Hands out empty folders for calls. WORKER-FOLDER-3 */
export class CallFolders {
  private readonly free: string[] = [];

  constructor(private readonly workerFolder: string) {}

  async take(): Promise<string> {
    return this.free.pop() ?? mkdtemp(path.join(this.workerFolder, 'call-'));
  }

  /** One that can't be looked at is gone, or nothing for another call. */
  async giveBack(folder: string): Promise<void> {
    if (isEmpty(folder)) this.free.push(folder);
    else await removeFolder(folder);
  }
}

/** Looked at without a thread of its own, which costs more than the look. */
function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}

/** A folder that can't be removed is left: it is below the temporary folder of the system. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

async function removeLeftFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) await removeLeft(path.join(tmpdir(), name));
}

/** WORKER-FOLDER-1, WORKER-FOLDER-2 */
async function removeLeft(folder: string): Promise<void> {
  try {
    const found = await lstat(folder);
    if (!found.isDirectory() || (getuid !== undefined && found.uid !== getuid())) return;
    const owner = await readFile(path.join(folder, NOTE), 'utf8').catch(() => undefined);
    if (owner === undefined) {
      if (Date.now() - found.mtimeMs > WITHOUT_NOTE_MS) await rmdir(folder); // only when it is empty
    } else if (hasDied(owner)) {
      for (const name of await readdir(folder)) if (name !== NOTE) await rm(path.join(folder, name), { recursive: true, force: true });
      await rm(folder, { recursive: true, force: true });
    }
  } catch {
    // Another worker removes it, or it can't be removed: it is below the temporary folder of the system.
  }
}
