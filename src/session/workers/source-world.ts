/** Shows a worker the sources of the run that offers a call, in the place of files that it does not have. team-store.md 7.2. */
import path from 'node:path';
import type { World } from '../../world/world.js';

/** `texts` are by absolute path. Everything else is of `world`. */
export function sourceWorld(world: World, texts: ReadonlyMap<string, string>): World {
  const folders = new Map<string, { readonly files: Set<string>; readonly folders: Set<string> }>();
  const folderOf = (folder: string): { files: Set<string>; folders: Set<string> } => {
    const known = folders.get(folder);
    if (known) return known;
    const made = { files: new Set<string>(), folders: new Set<string>() };
    folders.set(folder, made);
    if (path.dirname(folder) !== folder) folderOf(path.dirname(folder)).folders.add(path.basename(folder));
    return made;
  };
  for (const file of texts.keys()) folderOf(path.dirname(file)).files.add(path.basename(file));
  const perform = (async (kind: string, request: { readonly path?: string }) => {
    const { path: file } = request;
    const text = file === undefined ? undefined : texts.get(file);
    const folder = file === undefined ? undefined : folders.get(file);
    if (kind === 'file.read' && text !== undefined) return { text };
    if (kind === 'file.stat' && text !== undefined) return { kind: 'file' };
    if (kind === 'file.stat' && folder) return { kind: 'directory' };
    if (kind === 'file.list' && folder) return { files: [...folder.files].sort(), folders: [...folder.folders].sort() };
    return world.perform(kind as 'file.read', request as { readonly path: string });
  }) as World['perform'];
  return { perform, close: async () => undefined }; // the world belongs to the caller
}
