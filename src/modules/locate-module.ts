/** Which file or folder the path of an import means. world.md 11.3. */
import path from 'node:path';
import type { Frame } from '../runtime/frame.js';
import { performEffect } from '../operation/perform-effect.js';

export type Located = { readonly kind: 'module' | 'directory'; readonly absolute: string };

const INDEX = 'index.mld';

/** The extension `.mld` may be left out; a trailing slash asks for the modules below a folder, not for its own. */
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

/** The module of a folder, if it has one. */
export async function indexIn(directory: string, frame: Frame): Promise<string | undefined> {
  const index = path.join(directory, INDEX);
  return (await kindAt(index, frame)) === 'file' ? index : undefined;
}

async function kindAt(absolute: string, frame: Frame): Promise<'file' | 'directory' | 'none'> {
  return (await performEffect(frame, 'file.stat', { path: absolute })).kind;
}
