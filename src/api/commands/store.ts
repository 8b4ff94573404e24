/** Opens the journal of a project that was found already: without the checks of `src/api/open-file-store.ts`. */
export { openFileStore } from '../../../journal/storage/file-store.js';
export { skippedRun } from '../../../journal/errors.js';
