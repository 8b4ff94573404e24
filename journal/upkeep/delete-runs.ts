/**
 * Takes whole runs and blobs out of a journal for good. What may go is decided elsewhere.
 *
 * G1 A run goes as a whole and durably before the next one does, so that whoever removes them in an order finds a beginning of that order
 *    gone after a crash. Its first file goes first: further segments that a crash leaves behind belong to no run, and are half-made.
 * G2 A blob is set aside before it is removed: a run that began meanwhile either stored it anew, or is seen when the runs are listed
 *    again, and the blob is put back. A process that was killed in between leaves it aside; the next one begins by putting it back.
 */
import { realDisk, type Disk } from '../storage/disk.js';
import { codeOf, journalError } from '../errors.js';
import type { BlobId, RunRef } from '../ids.js';
import { join } from 'node:path';
import {
  blobFolder,
  blobOfFile,
  blobPath,
  blobsFolder,
  journalFolder,
  lockPath,
  runPath,
  runsFolder,
  runsFolderOf,
  workflowOfFolder,
} from '../storage/layout.js';
import { countSegments, fileBefore, segmentPath } from '../segments.js';

const ASIDE = '.aside';
/** On its way to its name. */
const HALF_MADE = '.tmp';

export interface StoredFile {
  readonly blob: BlobId;
  readonly bytes: number;
}

export interface Deleter {
  /** Puts back what an interrupted removal has left aside. */
  recover(): Promise<void>;
  /** Files that writers which were killed left half-made: copies of anything. Those of writers that live are among them. */
  unfinishedFiles(): Promise<readonly string[]>;
  /** Of those, what nobody is writing. */
  deleteUnfinished(paths: readonly string[]): Promise<void>;
  /** The writer must be gone. */
  deleteRun(ref: RunRef): Promise<void>;
  blobs(): Promise<readonly StoredFile[]>;
  trash(blobs: readonly BlobId[]): Promise<void>;
  restore(blobs: readonly BlobId[]): Promise<void>;
  /** For good; they have been set aside. */
  deleteTrashed(blobs: readonly BlobId[]): Promise<void>;
}

/** `root` is the project's folder. Every function rejects with `JournalError` when the disk doesn't do it. */
export function openDeleter(root: string, disk: Disk = realDisk): Deleter {
  const journal = journalFolder(root);
  const attempt = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      throw journalError(error, doing);
    }
  };
  const move = async (blobs: readonly BlobId[], each: (path: string) => Promise<void>): Promise<void> => {
    for (const blob of blobs) await each(blobPath(journal, blob));
  };
  return {
    recover: () => attempt('put back what was set aside', () => recover(disk, journal)),
    unfinishedFiles: () => attempt('list what was left half-made', () => listHalfMade(disk, journal)),
    deleteUnfinished: (paths) =>
      attempt('remove what was left half-made', async () => {
        for (const path of paths) await disk.remove(path);
      }),
    deleteRun: (ref) =>
      attempt(`remove run ${ref.run}`, async () => {
        const path = runPath(journal, ref);
        const segments = countSegments(disk, path);
        await disk.remove(path);
        await disk.syncFolder(runsFolder(journal, ref.workflow));
        for (let segment = 2; segment <= segments; segment++) await disk.remove(segmentPath(path, segment));
        await disk.remove(lockPath(journal, ref)); // left behind by a crash
      }),
    blobs: () => attempt('list the blobs', () => listBlobs(disk, journal)),
    trash: (blobs) => attempt('set blobs aside', () => move(blobs, (path) => disk.rename(path, path + ASIDE))),
    restore: (blobs) => attempt('put blobs back', () => move(blobs, (path) => putBack(disk, path))),
    deleteTrashed: (blobs) => attempt('remove blobs', () => move(blobs, (path) => disk.remove(path + ASIDE))),
  };
}

async function recover(disk: Disk, journal: string): Promise<void> {
  for (const folder of await foldersOf(disk, journal)) {
    for (const name of await disk.list(folder)) {
      if (name.endsWith(ASIDE)) await putBack(disk, `${folder}/${name.slice(0, -ASIDE.length)}`);
    }
  }
}

async function listHalfMade(disk: Disk, journal: string): Promise<string[]> {
  const found: string[] = [];
  const names = await listOrNothing(disk, journal);
  const workflows = names.filter((name) => workflowOfFolder(name) !== undefined);
  const folders = [
    journal,
    ...workflows.flatMap((name) => [join(journal, name), runsFolderOf(journal, name)]),
    ...(await foldersOf(disk, journal)),
  ];
  for (const folder of folders) {
    const names = new Set(
      [...(await listOrNothing(disk, folder))].sort((left, right) => left.localeCompare(right, 'en', { numeric: true })),
    );
    for (const name of names) {
      const before = fileBefore(name);
      if (!name.endsWith(HALF_MADE) && (before === undefined || names.has(before))) continue;
      found.push(join(folder, name));
      names.delete(name);
    }
  }
  return found;
}

/** The content is the same whoever stored it, so replacing one by the other changes nothing. */
async function putBack(disk: Disk, path: string): Promise<void> {
  await disk.rename(path + ASIDE, path);
}

async function listBlobs(disk: Disk, journal: string): Promise<StoredFile[]> {
  const found: StoredFile[] = [];
  for (const folder of await foldersOf(disk, journal)) {
    for (const name of await disk.list(folder)) {
      const blob = blobOfFile(name);
      if (blob !== undefined) found.push({ blob, bytes: sizeOf(disk, blobPath(journal, blob)) });
    }
  }
  return found;
}

function sizeOf(disk: Disk, path: string): number {
  const file = disk.openToRead(path);
  try {
    return disk.sizeOf(file);
  } finally {
    disk.close(file);
  }
}

async function foldersOf(disk: Disk, journal: string): Promise<string[]> {
  const names = await listOrNothing(disk, blobsFolder(journal));
  return names.filter((name) => /^[0-9a-f]{2}$/.test(name)).map((name) => blobFolder(journal, name));
}

async function listOrNothing(disk: Disk, folder: string): Promise<readonly string[]> {
  try {
    return await disk.list(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []; // also the project's key, which lies beside the workflows
    throw error;
  }
}
