/** Opens the journal of a project for a program, and refuses other folders: a journal there would hold runs that no command finds. */
import path from 'node:path';
import { openFileStore as openStore, type FileStoreOptions } from '../../journal/storage/file-store.js';
import type { JournalStore } from '../../journal/store.js';
import { MlldError } from '../errors.js';
import { isProjectRoot } from '../session/project.js';
import { badOption } from './check.js';

/**
 * Opens the journal in a project's folder. Opening does no work; runs are created below `.mlld/journal`. Throws BAD_OPTION and NO_PROJECT.
 *
 * ```js
 * const store = openFileStore((await findProject('.')).root);
 * ```
 */
export function openFileStore(root: string, options: FileStoreOptions = {}): JournalStore {
  if (typeof root !== 'string' || root === '') {
    throw badOption('openFileStore()', 'the folder is missing', 'openFileStore((await findProject(folder)).root)');
  }
  const folder = path.resolve(root);
  if (!isProjectRoot(folder)) {
    throw new MlldError(
      'NO_PROJECT',
      `${folder} is not a project: it has neither mlld-config.json nor another mark of one, and no journal`,
      {
        hint: "name the project's own folder, or put a mlld-config.json with {} into it",
      },
    );
  }
  return openStore(folder, options);
}
