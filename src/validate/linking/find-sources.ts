/** Finds the scripts and templates of a folder. world.md 19. */
import path from 'node:path';
import { MlldError } from '../../errors.js';
import type { SourceFiles } from '../../world/files/source-files.js';

const SOURCE = /\.(mld|mld\.md|att|mtt)$/i;
const FILES_MAX = 20_000;

/**
 * Returns absolute paths, sorted. Leaves out hidden folders and `node_modules`, and does not follow links to folders.
 * Throws TOO_MANY_FILES above 20,000 files.
 */
export async function findSources(directory: string, files: SourceFiles): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [directory];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await files.list(folder);
    for (const name of entries.files) if (SOURCE.test(name)) found.push(path.join(folder, name));
    if (found.length > FILES_MAX) {
      throw new MlldError('TOO_MANY_FILES', `There are more than ${FILES_MAX} scripts and templates in ${directory}`, {
        hint: 'validate a folder inside it',
      });
    }
    for (const name of entries.folders) if (!name.startsWith('.') && name !== 'node_modules') folders.push(path.join(folder, name));
  }
  return found.sort();
}
