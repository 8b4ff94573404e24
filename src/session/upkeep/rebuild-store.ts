/** Makes anew what the store of a team derives from its journals. team-store.md 12. */
import type { Rebuilding } from '../../../journal/postgres/open-store.js';
import type { RebuildOptions, RebuildReport } from '../../../journal/postgres/rebuild/rebuild-index.js';
import type { JournalStore } from '../../../journal/store.js';
import { MlldError } from '../../errors.js';

export type { RebuildReport } from '../../../journal/postgres/rebuild/rebuild-index.js';

/** Throws RUN_RUNNING while a run of the project is in flight. */
export async function rebuildStore(store: JournalStore, options: RebuildOptions): Promise<RebuildReport> {
  const outcome = await (store as JournalStore & Rebuilding).rebuild(options);
  if (outcome.kind === 'rebuilt') return outcome.report;
  const [first, ...others] = outcome.runs;
  const runs =
    others.length === 0
      ? `run ${first?.run} of ${first?.workflow} is`
      : `${outcome.runs.length} runs, as ${first?.run} of ${first?.workflow}, are`;
  throw new MlldError('RUN_RUNNING', `${runs} in flight, and nothing was changed`, {
    hint: 'wait until they have ended; after a restart of the server, one that was killed counts as in flight for a lease, a minute',
  });
}
