/**
 * Wraps the few file-system calls that the journal makes, so that a test can make the n-th one fail or be the last. Files are 0600,
 * folders 0700. Calls on the hot path of every event are synchronous: they take microseconds, a trip through the thread pool takes ten
 * times that. Syncs never are: they take milliseconds.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../errors.js';
import { makeFolders } from './make-folders.js';

export interface Disk {
  /** Makes a folder and all above it. Returns the first one that was made, undefined when all were there. */
  makeFolder(path: string): Promise<string | undefined>;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): Promise<void>;
  /** Creates a file to write; fails with EEXIST when the name is taken. */
  create(path: string): number;
  /** Opens an existing file to write; its size stays as it is. */
  openToContinue(path: string): number;
  /** Opens a plain file; anything else is refused, because reading it may never end. */
  openToRead(path: string): number;
  /** May write less than `length`. Returns the number of bytes. Without `position` it writes behind what was written last. */
  write(file: number, bytes: Uint8Array, start: number, length: number, position?: number): number;
  /** May read less than `length`; 0 at the end. */
  read(file: number, into: Uint8Array, start: number, length: number, position: number): number;
  sizeOf(file: number): number;
  cut(file: number, size: number): void;
  /** True for an open file that has no name any more. Some file systems say so of every file. */
  isNameless(file: number): boolean;
  /** Calls fdatasync. */
  sync(file: number, done: (error: Error | null) => void): void;
  close(file: number): void;
  /** Reads a plain file; refuses what `openToRead` refuses. */
  readWhole(path: string): Promise<Uint8Array>;
  rename(from: string, to: string): Promise<void>;
  /** Adds a second name to a file; fails with EEXIST when the name is taken. */
  link(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  list(folder: string): Promise<readonly string[]>;
  /** Does what `list` does, without waiting. */
  listNow(folder: string): readonly string[];
}

/** Does not wait for a writer at the other end of a pipe. Windows has no such flag. */
const READ_FLAGS = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

function notPlain(path: string): Error {
  return Object.assign(new Error(`ENOTPLAIN: ${path} is not a plain file; move it away`), { code: 'ENOTPLAIN' });
}

export const realDisk: Disk = {
  makeFolder: async (path) => makeFolders(path, 0o700),
  async syncFolder(path) {
    const folder = await promises.open(path, 'r');
    try {
      await folder.sync();
    } catch (error) {
      // Some file systems can't sync a folder and say so; they have nothing better to offer.
      if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error;
    } finally {
      await folder.close();
    }
  },
  create: (path) => fs.openSync(path, 'wx', 0o600),
  openToRead(path) {
    const file = fs.openSync(path, READ_FLAGS);
    if (fs.fstatSync(file).isFile()) return file;
    fs.closeSync(file);
    throw notPlain(path);
  },
  openToContinue: (path) => fs.openSync(path, 'r+'),
  write: (file, bytes, start, length, position) => fs.writeSync(file, bytes, start, length, position),
  read: (file, into, start, length, position) => fs.readSync(file, into, start, length, position),
  sizeOf: (file) => fs.fstatSync(file).size,
  cut: (file, size) => fs.ftruncateSync(file, size),
  isNameless: (file) => fs.fstatSync(file).nlink === 0,
  sync: (file, done) => fs.fdatasync(file, done),
  close: (file) => fs.closeSync(file),
  async readWhole(path) {
    const file = await promises.open(path, READ_FLAGS);
    try {
      if (!(await file.stat()).isFile()) throw notPlain(path);
      return await file.readFile();
    } finally {
      await file.close();
    }
  },
  rename: (from, to) => promises.rename(from, to),
  link: (from, to) => promises.link(from, to),
  remove: (path) => promises.rm(path, { force: true }),
  list: (folder) => promises.readdir(folder),
  listNow: (folder) => fs.readdirSync(folder),
};

/** Makes a folder whose existence is durable. */
export async function makeDurableFolder(disk: Disk, path: string): Promise<void> {
  const first = await disk.makeFolder(path);
  if (first === undefined) return;
  const above = dirname(first);
  for (let folder = dirname(path); folder.length >= above.length; folder = dirname(folder)) {
    await disk.syncFolder(folder);
    if (folder === dirname(folder)) return;
  }
}

/** Writes all bytes, however many calls that takes. Throws what the disk throws; then some of them may be written. */
export function writeAll(disk: Disk, file: number, bytes: Uint8Array, position?: number): void {
  let written = 0;
  while (written < bytes.length) {
    const at = position === undefined ? undefined : position + written;
    const count = disk.write(file, bytes, written, bytes.length - written, at);
    if (count === 0) throw Object.assign(new Error('ENOSPC: the disk takes no more bytes'), { code: 'ENOSPC' });
    written += count;
  }
}

/**
 * Writes a file that appears whole, under its name, and durable: temporary file, fdatasync, rename, sync of the folder. The folder must
 * exist. `temporary` must be a name of its own for every writer.
 */
export function writeDurably(disk: Disk, path: string, temporary: string, content: Uint8Array): Promise<void> {
  return produceDurably(disk, path, temporary, (file) => writeAll(disk, file, content));
}

/** Does what `writeDurably` does with what `write` writes to the temporary file. */
export async function produceDurably(disk: Disk, path: string, temporary: string, write: Write): Promise<void> {
  const file = disk.create(temporary);
  try {
    await fill(disk, file, write);
    await disk.rename(temporary, path);
  } catch (error) {
    await disk.remove(temporary).catch(() => undefined); // the first error is the one to report
    throw error;
  }
  await disk.syncFolder(dirname(path));
}

/** Does what `writeDurably` does, but never replaces a file: false when the name was taken. */
export async function writeNew(disk: Disk, path: string, temporary: string, content: Uint8Array): Promise<boolean> {
  const file = disk.create(temporary);
  try {
    await fill(disk, file, () => writeAll(disk, file, content));
    await disk.link(temporary, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    await disk.remove(temporary).catch(() => undefined); // a leftover is harmless
  }
  await disk.syncFolder(dirname(path));
  return true;
}

type Write = (file: number) => void | Promise<void>;

/** Writes, syncs and closes. */
async function fill(disk: Disk, file: number, write: Write): Promise<void> {
  try {
    const writing = write(file);
    if (writing) await writing;
    await syncFile(disk, file);
  } finally {
    disk.close(file);
  }
}

export function syncFile(disk: Disk, file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    disk.sync(file, (error) => (error ? reject(error) : resolve()));
  });
}
