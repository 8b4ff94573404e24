/**
 * Reads and writes the files of published modules. Each is in a folder of its own, named by the digest of its bytes.
 *
 * FILES-1 A file is there as a whole or not at all: it is written beside its place and renamed. A kill leaves a hidden temporary file.
 * FILES-2 Nothing is read or written through a link below the folder of modules; the folder itself may be one.
 */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../files/replace-file.js';

/** A module is source text; more than this is something else. */
export const MODULE_BYTES_MAX = 4 * 1024 * 1024;

export type FileState = 'verified' | 'missing' | 'changed' | 'link';

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Says whether the file of this digest is there and has it. */
export async function stateOf(folder: string, sha256: string, name: string): Promise<FileState> {
  const file = path.join(folder, sha256, name);
  const [above, own] = [await entryAt(path.dirname(file)), await entryAt(file)];
  if (above?.isSymbolicLink() === true || own?.isSymbolicLink() === true) return 'link';
  if (own === undefined) return 'missing';
  if (!own.isFile() || own.size > MODULE_BYTES_MAX) return 'changed';
  return sha256Of(await readFile(file)) === sha256 ? 'verified' : 'changed';
}

/** Writes the file unless it is there with this content. Throws an error of the system (ELOOP where a link is in the way). */
export async function writeModule(folder: string, sha256: string, name: string, bytes: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  const own = path.join(await realpath(folder), sha256);
  if ((await entryAt(own))?.isSymbolicLink()) throw linkInTheWay(own);
  await mkdir(own, { recursive: true });
  const file = path.join(own, name);
  if ((await entryAt(file))?.isSymbolicLink()) throw linkInTheWay(file);
  if ((await stateOf(folder, sha256, name)) === 'verified') return;
  await replaceFile(file, bytes, { durability: 'synced' });
}

/** Removes the folder of a digest; a link is removed, and not what it points to. */
export async function removeModule(folder: string, sha256: string): Promise<void> {
  await rm(path.join(folder, sha256), { recursive: true, force: true });
}

/** Returns the digests that have a folder, sorted. */
export async function storedDigests(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^[0-9a-f]{64}$/.test(name)).sort();
}

/** Reads a text that may be missing. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces a text as a whole, and syncs it first. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await replaceFile(file, text, { durability: 'synced' });
}

export type LocalBytes = { readonly bytes: Uint8Array } | { readonly problem: string };

/** Reads a file that a user names, up to the size of a module. */
export async function readModuleFile(file: string): Promise<LocalBytes> {
  try {
    const found = await stat(file);
    if (!found.isFile()) return { problem: 'it is not a file' };
    if (found.size > MODULE_BYTES_MAX) return { problem: `it is larger than ${MODULE_BYTES_MAX} bytes` };
    return { bytes: await readFile(file) };
  } catch (error) {
    return { problem: (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message };
  }
}

function linkInTheWay(file: string): Error {
  return Object.assign(new Error(`${file} is a link, and modules are not written through links`), { code: 'ELOOP' });
}

async function entryAt(file: string): Promise<Awaited<ReturnType<typeof lstat>> | undefined> {
  return lstat(file).catch(() => undefined);
}
