/** Finds the file or folder that the path of an import names. world.md 11.3. */
import path from 'node:path';
import type { Frame } from '../runtime/frame.js';
import { performEffect } from '../operation/perform-effect.js';

export type Located = { readonly kind: 'module' | 'directory'; readonly absolute: string };

const INDEX = 'index.mld';

/** Tries the path without `.mld` too. A trailing slash means the modules below a folder instead of the folder's own `index.mld`. */
export async function locateModule(absolute: string, ending: 'slash' | 'name', frame: Frame): Promise<Located> {
  const kind = await kindAt(absolute, frame);
  if (kind === 'directory') {
    const index = path.join(absolute, INDEX);
    const hasIndex = ending === 'name' && (await kindAt(index, frame)) === 'file';
    return hasIndex ? { kind: 'module', absolute: index } : { kind: 'directory', absolute };
  }
  if (kind === 'none' && (await kindAt(`${absolute}.mld`, frame)) === 'file') return { kind: 'module', absolute: `${absolute}.mld` };
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
