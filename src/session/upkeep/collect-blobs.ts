/** Removes the blobs that no run refers to, and unfinished files of killed writers: the last step of commands that remove something. */
import type { StoredFile } from '../../../journal/upkeep/delete-runs.js';
import type { Keeper } from '../../../journal/upkeep/keeper.js';
import type { RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { hasNewcomers, unreferencedBlobs } from '../../../replay/upkeep/garbage-collection.js';

/** The reason why blobs were left alone: a run is in flight, or one can't be read in full. */
export type BlobsLeft = 'running' | 'damaged';

export interface CollectedBlobs {
  readonly removed: readonly StoredFile[];
  readonly left: BlobsLeft | null;
}

/**
 * Without the help of the store, DELETE-2 holds: a run refers to a blob only after storing it, so while a run is in flight no blob is
 * known to be unused.
 */
export async function collectBlobs(
  store: JournalStore,
  { blobs: deleter }: Pick<Keeper, 'blobs'>,
  { going, dryRun }: { readonly going: readonly RunRef[]; readonly dryRun: boolean },
): Promise<CollectedBlobs> {
  if ('removeUnused' in deleter) return { removed: await deleter.removeUnused({ going, dryRun }), left: null };
  const stored = await deleter.blobs();
  const halfMade = await deleter.unfinishedFiles(); // before runs are looked for, as the blobs: whose it is has begun by then
  const { blobs, seen, damage } = await unreferencedBlobs(
    store,
    stored.map(({ blob }) => blob),
    going,
  );
  if (damage !== undefined) return { removed: [], left: 'damaged' };
  if (!dryRun) {
    if (await hasNewcomers(store, seen)) return { removed: [], left: 'running' };
    await deleter.trash(blobs);
    if (await hasNewcomers(store, seen)) {
      await deleter.restore(blobs);
      return { removed: [], left: 'running' };
    }
    await deleter.deleteTrashed(blobs);
    await deleter.deleteUnfinished(halfMade);
  } else if (await hasNewcomers(store, [...seen, ...going.map(({ run }) => run)])) return { removed: [], left: 'running' };
  const gone = new Set(blobs);
  return { removed: stored.filter(({ blob }) => gone.has(blob)), left: null };
}
