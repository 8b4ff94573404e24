/** Looks at folders outside of any run, and lists and removes those that the program keeps for itself. */
import { statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

export interface KeptFolder {
  /** Absolute. */
  readonly path: string;
  readonly files: readonly string[];
  /** The time at which an entry was last made or removed. */
  readonly changedMs: number;
}

export function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Lists the folders in `folder`; those that can't be read, or vanish meanwhile, are left out. */
export async function foldersIn(folder: string): Promise<readonly KeptFolder[]> {
  const found: KeptFolder[] = [];
  const names = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of names.filter((each) => each.isDirectory())) {
    const inner = path.join(folder, entry.name);
    try {
      const [files, { mtimeMs }] = await Promise.all([readdir(inner), stat(inner)]);
      found.push({ path: inner, files, changedMs: mtimeMs });
    } catch {
      continue;
    }
  }
  return found;
}

/** Removes a folder with all that is in it. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
