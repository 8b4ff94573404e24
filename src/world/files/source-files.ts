/** Reads sources from the disk for `mlld validate`, which has no run and therefore no world. It never writes. */
import { access, constants, readdir } from 'node:fs/promises';
import path from 'node:path';
import { createFiles } from './files.js';

export interface SourceFiles {
  /** Undefined when it can't be read as a file of text. */
  readText(absolute: string): Promise<string | undefined>;
  kindOf(absolute: string): Promise<'file' | 'directory' | 'none'>;
  /** True for a file that this user may execute. */
  isProgram(absolute: string): Promise<boolean>;
  /** Names of the entries, each list sorted; all empty for what can't be listed. */
  list(absolute: string): Promise<FolderEntries>;
}

export interface FolderEntries {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** Links to folders: a module like any other, but a walk that follows them may go in circles. */
  readonly linkedFolders: readonly string[];
}

export function sourceFilesOnDisk(): SourceFiles {
  const { read, stat } = createFiles();
  const kindOf: SourceFiles['kindOf'] = async (absolute) => (await stat({ path: absolute })).kind;
  return {
    kindOf,
    async readText(absolute) {
      const result = await read({ path: absolute });
      return 'text' in result ? result.text : undefined;
    },
    async isProgram(absolute) {
      if ((await kindOf(absolute)) !== 'file') return false;
      return access(absolute, constants.X_OK).then(
        () => true,
        () => false,
      );
    },
    async list(absolute) {
      const found = { files: [] as string[], folders: [] as string[], linkedFolders: [] as string[] } satisfies FolderEntries;
      for (const entry of await readdir(absolute, { withFileTypes: true }).catch(() => [])) {
        if (entry.isDirectory()) found.folders.push(entry.name);
        else if (entry.isSymbolicLink() && (await kindOf(path.join(absolute, entry.name))) === 'directory')
          found.linkedFolders.push(entry.name);
        else found.files.push(entry.name);
      }
      for (const names of Object.values(found)) names.sort();
      return found;
    },
  };
}
