/**
 * Looks at, reads and restores files that calls wrote. Only regular files count: a symbolic link is not followed, and a path that leaves
 * its folder through one above it is refused.
 */
import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import { makeFolders } from '../../../journal/storage/make-folders.js';
import { replaceFile } from './replace-file.js';

export interface FileState {
  readonly bytes: number;
  /** The permission bits. */
  readonly mode: number;
  /** Another one after each write: the number of the file, its size, and the times at which its content and its data were changed. */
  readonly stamp: string;
  /** It was written just now: another write at the same tick of the system's clock would leave the stamp. */
  readonly isFresh: boolean;
}

/** Longer than a tick of the clock that files get their times from. */
const FRESH_MS = 100;

/** `other`: a folder, a link, a device, or nothing that can be looked at. */
export async function stateOf(path: string): Promise<FileState | 'absent' | 'other'> {
  try {
    const facts = await lstat(path, { bigint: true });
    if (!facts.isFile()) return 'other';
    return {
      bytes: Number(facts.size),
      mode: Number(facts.mode) & 0o777,
      stamp: [facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(' '),
      isFresh: Math.abs(Date.now() - Number(facts.ctimeMs)) < FRESH_MS,
    };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code) ? 'absent' : 'other';
  }
}

/** Undefined for what is no regular file, can't be read, or is larger. */
export async function readUpTo(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    // A pipe that was put there meanwhile must not be waited for.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const facts = await file.stat();
      if (!facts.isFile() || facts.size > maxBytes) return undefined;
      const content = await file.readFile();
      return content.length > maxBytes ? undefined : content;
    } finally {
      await file.close();
    }
  } catch {
    return undefined; // the caller says what follows from it
  }
}

/**
 * Returns whether a path is in a folder, and in none of a closed name inside it, also when the links above it are followed. The path itself
 * need not exist.
 */
export async function staysIn(folder: string, path: string, closed: readonly string[] = []): Promise<boolean> {
  try {
    const from = relative(await realpath(folder), await realOf(dirname(path)));
    const parts = from.split(sep);
    return parts[0] !== '..' && !parts.some((part) => closed.includes(part));
  } catch {
    return false;
  }
}

/** The real path of the nearest folder above that exists. */
async function realOf(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    const above = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error;
    return realOf(above);
  }
}

/** Replaces the file as a whole; makes its folders. Rejects with the system's error. */
export async function putBack(path: string, content: Uint8Array, mode: number): Promise<void> {
  makeFolders(dirname(path));
  await replaceFile(path, content, { mode });
}
