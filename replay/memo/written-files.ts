/** Folds the blobs that the calls of a run wrote to their declared output files. */
import type { BlobId } from '../../journal/ids.js';
import type { Projection } from '../fold/projection.js';
import { holdsResult } from './stored-result.js';

/** By path. */
export type WrittenFiles = Map<string, Set<BlobId>>;

/** Folds the events of one run. */
export const writtenFiles: Projection<WrittenFiles> = {
  initial: () => new Map(),
  apply(state, event) {
    if (!holdsResult(event)) return state;
    for (const output of event.outputs ?? []) {
      if ('blob' in output) state.set(output.path, (state.get(output.path) ?? new Set()).add(output.blob));
    }
    return state;
  },
};
