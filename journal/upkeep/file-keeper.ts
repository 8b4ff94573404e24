/** Changes and removes what lies below a project's folder. */
import { journalError } from '../errors.js';
import { readRunBytes } from '../segments.js';
import { realDisk, type Disk } from '../storage/disk.js';
import { journalFolder, runPath } from '../storage/layout.js';
import { storeBundle } from './bundle.js';
import { openDeleter } from './delete-runs.js';
import type { Keeper } from './keeper.js';
import { editedLines, rewriteRun } from './rewrite.js';

/** `root` is the project's folder. */
export function openFileKeeper(root: string, disk: Disk = realDisk): Keeper {
  const deleter = openDeleter(root, disk);
  return {
    recover: () => deleter.recover(),
    deleteUnfinished: async () => deleter.deleteUnfinished(await deleter.unfinishedFiles()),
    deleteRun: (ref) => deleter.deleteRun(ref),
    rewriteRun: (ref, edit, because, options) => rewriteRun(root, ref, edit, because, disk, options),
    async lines(ref) {
      try {
        return readRunBytes(disk, runPath(journalFolder(root), ref));
      } catch (error) {
        throw journalError(error, `read run ${ref.run}`);
      }
    },
    editedLines: (ref, edit, because) => editedLines(root, ref, edit, because, disk),
    storeBundle: (bundle) => storeBundle(root, bundle, disk),
    purge: async () => undefined,
    blobs: deleter,
  };
}
