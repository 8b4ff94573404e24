/**
 * Tells a worker which recorded results the run that it serves would reuse for calls inside an offered one. team-store.md 7.2.
 *
 * SERVED-RESULTS-1 The journals up to that of the run count, with what that one has made unusable at its start. Runs that began later are
 *    news for it, their results as well as their `--fresh`: that of a colleague makes this run pay for nothing a second time.
 * SERVED-RESULTS-2 They are read when a call inside is about to reuse a result, and once: offered calls without calls inside read nothing.
 */
import type { CallKey, RunRef } from '../../../journal/ids.js';
import type { RecordedResult } from '../../../journal/storage/claims.js';
import type { JournalStore } from '../../../journal/store.js';
import { loadWorkflow, type PriorRuns } from '../../../replay/memo/load.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import { isNewsFor, type ServedResults } from '../ports/claims/team-results.js';

/** Returns the results of the runs up to `of`, which offers calls. */
export function servedResults(store: JournalStore, { workflow, run }: RunRef): ServedResults {
  let loading: Promise<PriorRuns> | undefined;
  const load = async (): Promise<PriorRuns> => {
    try {
      // A defect is reported by runs that load the same journals, and by `verify`.
      return await loadWorkflow(store, workflow, { onDefect: () => undefined, upTo: run });
    } catch (error) {
      loading = undefined; // the store may be back when it is asked again
      throw error;
    }
  };
  return {
    async mayReuse(key: CallKey, result: RecordedResult): Promise<boolean> {
      const prior = await (loading ??= load());
      return isNewsFor(prior, result) || usableEntry(prior.memo, key) !== undefined;
    },
  };
}
