/** Brings into the store of a team what runs here recorded while it could not be reached. team-store.md 4.4. */
import type { Pushing } from '../../../journal/postgres/open-store.js';
import type { RunRef } from '../../../journal/ids.js';
import type { PushedSpill } from '../../../journal/postgres/spill/push-spills.js';
import type { JournalStore } from '../../../journal/store.js';

/** Does nothing for files. */
export async function pushSpills(store: JournalStore): Promise<readonly PushedSpill[]> {
  return 'pushSpills' in store ? (store as JournalStore & Pushing).pushSpills() : [];
}

/** Returns the files of this folder that hold lines of these runs which can't be brought in. */
export async function damagedSpillsOf(store: JournalStore, runs: readonly RunRef[]): Promise<readonly string[]> {
  return 'pushSpills' in store ? (store as JournalStore & Pushing).damagedSpillsOf(runs) : [];
}

/** One line for people. */
export function describePush({ ref: { run, workflow }, events, salvaged, error }: PushedSpill): string {
  if (error !== undefined) {
    const hint = error.hint === undefined ? '' : ` (${error.hint})`;
    return `warning: what run ${run} of ${workflow} recorded while the store was away stays here: ${error.message}${hint}`;
  }
  if (salvaged > 0) {
    const ends = salvaged === 1 ? 'the end of 1 call' : `the ends of ${salvaged} calls`;
    return `run ${run} of ${workflow} was sealed while the store was away: ${ends} went into a salvage run`;
  }
  const count = events === 1 ? '1 event' : `${events} events`;
  return `run ${run} of ${workflow}: brought in ${count} that it recorded while the store was away`;
}
