/** Finds who changes and removes what a store holds. */
import type { JournalStore } from '../../../journal/store.js';
import { openFileKeeper } from '../../../journal/upkeep/file-keeper.js';
import type { Keeper, KeptStore } from '../../../journal/upkeep/keeper.js';

/** `root` is the folder of the project, below which the runs lie when no other store has them. */
export async function keeperOf(store: JournalStore, root: string): Promise<Keeper> {
  return hasKeeper(store) ? store.keeper() : openFileKeeper(root);
}

/** True for a store that lies on a server, which may have copies that no keeper reaches. */
export function hasKeeper(store: JournalStore): store is JournalStore & KeptStore {
  return 'keeper' in store;
}
