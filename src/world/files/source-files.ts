/** Sources on the disk, for the analysis of scripts that are not run: outside of a run there is no world to ask. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { FolderEntries, SourceFiles } from '../../validate/linking/source-files.js';
import { createFiles } from './files.js';

export function sourceFilesOnDisk(): SourceFiles {
  const { read, stat } = createFiles();
  const kindOf: SourceFiles['kindOf'] = async (absolute) => (await stat({ path: absolute })).kind;
  return {
    kindOf,
    async readText(absolute) {
      const answer = await read({ path: absolute });
      return 'text' in answer ? answer.text : undefined;
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
