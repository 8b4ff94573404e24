/** Removes whole runs that are no longer needed, then blobs that no run refers to. */
import type { RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { planCollection } from '../../../replay/upkeep/garbage-collection.js';
import type { Kept, RetentionRequest } from '../../../replay/upkeep/retention.js';
import { collectBlobs, type BlobsLeft } from './collect-blobs.js';
import { keeperOf } from './keeper-of.js';

export interface CollectionReport {
  readonly dryRun: boolean;
  readonly removed: readonly RunRef[];
  /** Runs that are old enough to go and are kept, each with its reason. */
  readonly kept: readonly Kept[];
  readonly blobs: { readonly count: number; readonly bytes: number };
  /** The reason for which no blob was looked at; null where unused ones were removed. */
  readonly blobsLeft: BlobsLeft | null;
}

/** Finishes what a killed collection began. A dry run changes nothing, and reports what would go. `root` is the folder of the project. */
export async function collectGarbage(
  store: JournalStore,
  root: string,
  { dryRun, ...request }: RetentionRequest & { readonly dryRun: boolean },
): Promise<CollectionReport> {
  const keeper = await keeperOf(store, root);
  if (!dryRun) await keeper.recover();
  const { remove, protectedRuns } = await planCollection(store, request);
  if (!dryRun) for (const ref of remove) await keeper.deleteRun(ref);
  const { removed, left } = await collectBlobs(store, keeper, { going: remove, dryRun });
  return {
    dryRun,
    removed: remove,
    kept: protectedRuns,
    blobs: { count: removed.length, bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0) },
    blobsLeft: left,
  };
}
