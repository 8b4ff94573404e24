/**
 * Deletes whole runs and blobs from a journal. The caller decides which (`replay/upkeep/garbage-collection.ts`).
 *
 * DELETE-1 A run is deleted as a whole and durably before the next one, so that after a crash the first ones of the caller's order are
 *    gone. Its first file goes first: further segments that a crash leaves behind belong to no run, and count as unfinished files.
 * DELETE-2 A blob is moved to the trash before it is deleted: a run that began meanwhile either stored it anew, or is seen when the runs
 *    are listed again, and the blob is restored. A process that was killed in between leaves it in the trash; the next one begins by
 *    restoring it.
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

/** The suffix of blobs in the trash. */
const TRASH = '.aside';
/** The suffix of temporary files. */
const UNFINISHED = '.tmp';

export interface StoredFile {
  readonly blob: BlobId;
  readonly bytes: number;
}

export interface Deleter {
  /** Restores what an interrupted deletion has left in the trash. */
  recover(): Promise<void>;
  /** Lists temporary files, which may be copies of anything: those that killed writers left, and those of writers that are alive. */
  unfinishedFiles(): Promise<readonly string[]>;
  /** Deletes temporary files that no process is writing. */
  deleteUnfinished(paths: readonly string[]): Promise<void>;
  /** The run must have no writer. */
  deleteRun(ref: RunRef): Promise<void>;
  blobs(): Promise<readonly StoredFile[]>;
  trash(blobs: readonly BlobId[]): Promise<void>;
  restore(blobs: readonly BlobId[]): Promise<void>;
  /** Deletes blobs that are in the trash. */
  deleteTrashed(blobs: readonly BlobId[]): Promise<void>;
}

/** `root` is the project's folder. Every function rejects with `JournalError` when the disk fails. */
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
    recover: () => attempt('restore what was left in the trash', () => recover(disk, journal)),
    unfinishedFiles: () => attempt('list unfinished files', () => listUnfinished(disk, journal)),
    deleteUnfinished: (paths) =>
      attempt('delete unfinished files', async () => {
        for (const path of paths) await disk.remove(path);
      }),
    deleteRun: (ref) => deleteRunFiles(disk, journal, ref),
    blobs: () => attempt('list the blobs', () => listBlobs(disk, journal)),
    trash: (blobs) => attempt('move blobs to the trash', () => move(blobs, (path) => disk.rename(path, path + TRASH))),
    restore: (blobs) => attempt('restore blobs', () => move(blobs, (path) => restore(disk, path))),
    deleteTrashed: (blobs) => attempt('delete blobs', () => move(blobs, (path) => disk.remove(path + TRASH))),
  };
}

/** DELETE-1. The caller knows that the writer is gone. Rejects with `JournalError` when the disk fails. */
export async function deleteRunFiles(disk: Disk, journal: string, ref: RunRef): Promise<void> {
  try {
    const path = runPath(journal, ref);
    const segments = countSegments(disk, path);
    await disk.remove(path);
    await disk.syncFolder(runsFolder(journal, ref.workflow));
    for (let segment = 2; segment <= segments; segment++) await disk.remove(segmentPath(path, segment));
    await disk.remove(lockPath(journal, ref)); // left behind by a crash
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw journalError(error, `delete run ${ref.run}`);
  }
}

async function recover(disk: Disk, journal: string): Promise<void> {
  for (const folder of await foldersOf(disk, journal)) {
    for (const name of await disk.list(folder)) {
      if (name.endsWith(TRASH)) await restore(disk, `${folder}/${name.slice(0, -TRASH.length)}`);
    }
  }
}

async function listUnfinished(disk: Disk, journal: string): Promise<string[]> {
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
      if (!name.endsWith(UNFINISHED) && (before === undefined || names.has(before))) continue;
      found.push(join(folder, name));
      names.delete(name);
    }
  }
  return found;
}

/** A run that stored the blob anew stored the same bytes, so replacing its file changes nothing. */
async function restore(disk: Disk, path: string): Promise<void> {
  await disk.rename(path + TRASH, path);
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
