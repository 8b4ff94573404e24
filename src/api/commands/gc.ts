/** Removes runs and blobs from a journal: `mlld journal gc`. */
export { openDeleter } from '../../../journal/upkeep/delete-runs.js';
export { hasNewcomers, planCollection, unreferencedBlobs } from '../../../replay/upkeep/garbage-collection.js';
