/**
 * Deletes whole runs and blobs from a journal. The caller decides which (`replay/upkeep/garbage-collection.ts`).
 *
 * DELETE-1 A run is deleted as a whole and durably before the next one, so that after a crash the first ones of the caller's order are
 *    gone. Its first file goes first: further segments that a crash leaves behind belong to no run, and count as unfinished files.
 * DELETE-2 A blob is moved to the trash before it is deleted: a run that began meanwhile either stored it anew, or is seen when the runs
 *    are listed again, and the blob is restored. A process that was killed in between leaves it in the trash; the next one begins by
 *    restoring it. A pack that holds blobs which go is replaced by one without them, and goes to the trash itself (`repack.ts`).
 */
import { realDisk, type Disk } from '../storage/disk.js';
import { codeOf, journalError } from '../errors.js';
import type { BlobId, RunRef } from '../ids.js';
import { basename, join } from 'node:path';
import {
  blobFolder,
  blobOfFile,
  blobPath,
  blobsFolder,
  journalFolder,
  lockPath,
  packOfFile,
  packsFolder,
  runPath,
  runsFolder,
  runsFolderOf,
  workflowOfFolder,
} from '../storage/layout.js';
import { countSegments, fileBefore, segmentPath } from '../segments.js';
import { deletePacks, packedBlobs, replacePacks, restorePacks } from './repack.js';

/** The suffix of blobs in the trash. */
const TRASH = '.aside';
/** The suffix of temporary files. */
const UNFINISHED = '.tmp';

export interface StoredFile {
  readonly blob: BlobId;
  /** The bytes that it takes on the disk. Other blobs of its pack may have parts in common with it, which stay. */
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
  const packs = packsFolder(journal);
  let replaced: Awaited<ReturnType<typeof replacePacks>> = [];
  const move = async (blobs: readonly BlobId[], suffix: string, each: (path: string) => Promise<void>): Promise<void> => {
    const there = new Set(await blobFiles(disk, journal));
    for (const blob of blobs) if (there.has(blobPath(journal, blob) + suffix)) await each(blobPath(journal, blob));
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
    trash: (blobs) =>
      attempt('move blobs to the trash', async () => {
        await move(blobs, '', (path) => disk.rename(path, path + TRASH));
        replaced = await replacePacks(disk, packs, TRASH, new Set(blobs));
      }),
    restore: (blobs) =>
      attempt('restore blobs', async () => {
        await move(blobs, TRASH, (path) => restore(disk, path));
        await restorePacks(disk, packs, TRASH, replaced);
      }),
    deleteTrashed: (blobs) =>
      attempt('delete blobs', async () => {
        await move(blobs, TRASH, (path) => disk.remove(path + TRASH));
        await deletePacks(disk, packs, TRASH, replaced);
      }),
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
  for (const path of await blobFiles(disk, journal)) if (path.endsWith(TRASH)) await restore(disk, path.slice(0, -TRASH.length));
  const packs = packsFolder(journal);
  for (const name of await listOrNothing(disk, packs)) {
    const pack = name.endsWith(TRASH) ? name.slice(0, -TRASH.length) : '';
    if (packOfFile(pack) !== undefined) await restore(disk, join(packs, pack));
  }
}

async function blobFiles(disk: Disk, journal: string): Promise<string[]> {
  const files: string[] = [];
  for (const folder of await foldersOf(disk, journal)) files.push(...(await disk.list(folder)).map((name) => join(folder, name)));
  return files;
}

async function listUnfinished(disk: Disk, journal: string): Promise<string[]> {
  const found: string[] = [];
  const names = await listOrNothing(disk, journal);
  const workflows = names.filter((name) => workflowOfFolder(name) !== undefined);
  const folders = [
    journal,
    ...workflows.flatMap((name) => [join(journal, name), runsFolderOf(journal, name)]),
    ...(await foldersOf(disk, journal)),
    packsFolder(journal),
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
  const found = new Map<BlobId, number>();
  const add = (blob: BlobId, bytes: number): void => void found.set(blob, (found.get(blob) ?? 0) + bytes);
  for (const path of await blobFiles(disk, journal)) {
    const blob = blobOfFile(basename(path));
    if (blob !== undefined) add(blob, sizeOf(disk, path));
  }
  for (const { blob, bytes } of packedBlobs(disk, packsFolder(journal))) add(blob, bytes);
  return [...found].map(([blob, bytes]) => ({ blob, bytes }));
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
