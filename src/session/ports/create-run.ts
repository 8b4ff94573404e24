/** Creates a run of a workflow whose prior runs are known. */
import { JournalError } from '../../../journal/errors.js';
import { runIdAt, startOf } from '../../../journal/ids.js';
import type { CreateOptions, Journal, JournalStore } from '../../../journal/store.js';
import type { PriorRuns } from '../../../replay/memo/load.js';
import { randomDigits } from '../../world/host.js';

const ID_ATTEMPTS = 5;

/**
 * Runs are ordered by their ids: the id is later than that of the latest run, even if the clock was set back. Retries an id that is taken.
 */
export async function createRun(
  store: JournalStore,
  { workflow, seen }: PriorRuns,
  nowMs: () => number,
  options?: CreateOptions,
): Promise<Journal> {
  const latest = seen.at(-1);
  const notBeforeMs = latest === undefined ? 0 : startOf(latest) + 1;
  for (let attempt = 1; ; attempt++) {
    const run = runIdAt(Math.max((await store.nowMs?.()) ?? nowMs(), notBeforeMs), randomDigits(4));
    try {
      return await store.create({ workflow, run }, options);
    } catch (error) {
      if (!(error instanceof JournalError) || error.code !== 'JOURNAL_RUN_EXISTS' || attempt === ID_ATTEMPTS) throw error;
    }
  }
}
