/**
 * Replaces a file as a whole: readers see the old text or the new one. A kill in between leaves the old text, and possibly a
 * hidden temporary file beside it. Not synced unless requested: what a script writes is as durable as what a shell writes.
 */
import { randomBytes } from 'node:crypto';
import { lstat, open, readlink, rename, unlink, writeFile } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const LINKS_MAX = 40;

export interface Replacement {
  /** With `synced`, the old text or the new one is there after a loss of power, never a part. */
  readonly durability?: 'synced' | 'unsynced';
  /** The permission bits; by default those of the file that is replaced. */
  readonly mode?: number;
}

export async function replaceFile(path: string, text: string | Uint8Array, how: Replacement = {}): Promise<void> {
  const { target, before } = await behindLinks(path);
  // Devices and pipes (/dev/null, /dev/stdout) are written to, not replaced; a directory fails here.
  if (before && !before.isFile()) return writeFile(target, text);
  const temporary = join(dirname(target), `.mlld-${randomBytes(9).toString('hex')}.tmp`);
  try {
    await writeNew(temporary, text, before, how);
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    if (!before || !isRefused(error)) throw error;
    // The folder may not be changed, the file may: a file that is mounted alone, or in a folder of another user.
    await writeFile(target, text);
  }
}

async function writeNew(
  path: string,
  text: string | Uint8Array,
  like: Stats | undefined,
  { durability, mode }: Replacement,
): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    if (durability === 'synced') await file.datasync();
    if (!like) {
      if (mode !== undefined) await file.chmod(mode);
      return;
    }
    // The owner is set first: changing it clears some bits of the mode. Only root can; for others the file becomes their own.
    const isOurs = like.uid === process.geteuid?.() && like.gid === process.getegid?.();
    if (!isOurs) await file.chown(like.uid, like.gid).catch(() => undefined);
    await file.chmod(mode ?? like.mode & 0o7777);
  } finally {
    await file.close();
  }
}

/** Follows symbolic links to the file that a write reaches, also when the last one points to nothing yet. */
async function behindLinks(path: string): Promise<{ target: string; before: Stats | undefined }> {
  let target = path;
  for (let links = 0; links <= LINKS_MAX; links++) {
    const before = await lstat(target).catch(() => undefined);
    if (!before?.isSymbolicLink()) return { target, before };
    target = resolve(dirname(target), await readlink(target));
  }
  throw new Error(`more than ${LINKS_MAX} symbolic links, one to the next`);
}

function isRefused(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EBUSY', 'EXDEV'].includes((error as NodeJS.ErrnoException).code ?? '');
}
