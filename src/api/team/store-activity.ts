/** Shows what the store of a team has beside runs: who writes now, the calls for workers, and lanes and budgets that runs share. */
import type { SharedBudget } from '../../../journal/postgres/limits/shared-budgets.js';
import type { Watching } from '../../../journal/postgres/open-store.js';
import type { ActiveWriter, OfferLane, SharedLane } from '../../../journal/postgres/activity/pg-activity.js';
import type { JournalStore } from '../../../journal/store.js';
import { budgetsIn } from '../../session/script/shared-budgets.js';

export interface StoreActivity {
  /** Files have none of the rest: they are of one machine. */
  readonly isShared: boolean;
  readonly writers: readonly ActiveWriter[];
  readonly lanes: readonly OfferLane[];
  readonly sharedLanes: readonly SharedLane[];
  readonly budgets: readonly SharedBudget[];
}

export async function readStoreActivity(store: JournalStore): Promise<StoreActivity> {
  const activity = activityIn(store);
  if (activity === undefined) return { isShared: false, writers: [], lanes: [], sharedLanes: [], budgets: [] };
  const [writers, lanes, sharedLanes, budgets] = await Promise.all([
    activity.writers(),
    activity.lanes(),
    activity.sharedLanes(),
    budgetsIn(store)?.list(),
  ]);
  return { isShared: true, writers, lanes, sharedLanes, budgets: budgets ?? [] };
}

/** Undefined for files. */
function activityIn(store: JournalStore): Watching['activity'] | undefined {
  return 'activity' in store ? (store as JournalStore & Watching).activity : undefined;
}
