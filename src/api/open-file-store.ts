/** `openFileStore` as a program calls it: of a project, and of no folder that only looks like one because it was created by opening it. */
import path from 'node:path';
import { openFileStore as openStore, type FileStoreOptions } from '../../journal/storage/file-store.js';
import type { JournalStore } from '../../journal/store.js';
import { MlldError } from '../errors.js';
import { isProjectRoot } from '../session/project.js';
import { badOption } from './check.js';

/** `root` is a project's folder: `(await findProject(folder)).root`. Throws BAD_OPTION and NO_PROJECT. */
export function openFileStore(root: string, options: FileStoreOptions = {}): JournalStore {
  if (typeof root !== 'string' || root === '') {
    throw badOption('openFileStore()', 'the folder is missing', 'openFileStore((await findProject(folder)).root)');
  }
  const folder = path.resolve(root);
  if (!isProjectRoot(folder)) {
    throw new MlldError('NO_PROJECT', `${folder} is no project: it has neither mlld-config.json nor another mark of one, and no record`, {
      hint: "name the project's own folder, or put a mlld-config.json with {} into it",
    });
  }
  return openStore(folder, options);
}
