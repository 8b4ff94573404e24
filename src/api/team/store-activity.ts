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
  /** Says in a line each which budgets and lanes could not be read. */
  readonly damaged: readonly string[];
}

export async function readStoreActivity(store: JournalStore): Promise<StoreActivity> {
  const activity = activityIn(store);
  if (activity === undefined) return { isShared: false, writers: [], lanes: [], sharedLanes: [], budgets: [], damaged: [] };
  const [writers, lanes, sharedLanes, budgets, damaged] = await Promise.all([
    activity.writers(),
    activity.lanes(),
    activity.sharedLanes(),
    budgetsIn(store)?.list(),
    activity.damaged(),
  ]);
  return { isShared: true, writers, lanes, sharedLanes, budgets: budgets ?? [], damaged };
}

/** Undefined for files. */
function activityIn(store: JournalStore): Watching['activity'] | undefined {
  return 'activity' in store ? (store as JournalStore & Watching).activity : undefined;
}
