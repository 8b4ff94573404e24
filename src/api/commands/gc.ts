/** Removes runs and blobs that are no longer needed: `mlld journal gc`. */
export type { BlobsLeft } from '../../session/upkeep/collect-blobs.js';
export { collectGarbage, type CollectionReport } from '../../session/upkeep/collect-garbage.js';
