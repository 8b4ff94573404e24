/** Finds the file or folder that the path of an import names. world.md 11.3. */
import path from 'node:path';
import type { Frame } from '../runtime/frame.js';
import { performEffect } from '../operation/perform-effect.js';

export type Located = { readonly kind: 'module' | 'directory'; readonly absolute: string };

const INDEX = 'index.mld';

/** Endings that an import may leave out, in the order in which they are tried. world.md 11.1. */
export const MODULE_ENDINGS = ['.mld', '.mld.md', '.md'] as const;

/**
 * Tries the path with each of the endings too. A trailing slash means the modules below a folder instead of the folder's own
 * `index.mld`.
 */
export async function locateModule(absolute: string, slash: 'slash' | 'name', frame: Frame): Promise<Located> {
  const kind = await kindAt(absolute, frame);
  if (kind === 'directory') {
    const index = path.join(absolute, INDEX);
    const hasIndex = slash === 'name' && (await kindAt(index, frame)) === 'file';
    return hasIndex ? { kind: 'module', absolute: index } : { kind: 'directory', absolute };
  }
  if (kind === 'none') {
    for (const ending of MODULE_ENDINGS) {
      if ((await kindAt(`${absolute}${ending}`, frame)) === 'file') return { kind: 'module', absolute: `${absolute}${ending}` };
    }
  }
  return { kind: 'module', absolute };
}

/** Returns the `index.mld` of a folder, if it has one. */
export async function indexIn(directory: string, frame: Frame): Promise<string | undefined> {
  const index = path.join(directory, INDEX);
  return (await kindAt(index, frame)) === 'file' ? index : undefined;
}

async function kindAt(absolute: string, frame: Frame): Promise<'file' | 'directory' | 'none'> {
  return (await performEffect(frame, 'file.stat', { path: absolute })).kind;
}
