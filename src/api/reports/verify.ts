/** Checks that the journal of a run is whole and a possible history: `mlld journal verify`. */
import type { JournalStore } from '../../../journal/store.js';
import { verifyRun as verify, type VerifyReport } from '../../../replay/reports/audit/verify.js';
import { refOf, type RunTarget } from '../run-target.js';

export type { VerifyReport, Violation } from '../../../replay/reports/audit/verify.js';

/**
 * Reads a run in full and checks the hash chain, the order of its events and that each blob it names is there. Never throws for damage:
 * that is in the report. A run that does not exist has 0 events. Throws `JournalError` when the disk fails.
 *
 * ```js
 * const { ok, defects, violations } = await verifyRun(store, run);
 * ```
 */
export function verifyRun(store: JournalStore, run: RunTarget): Promise<VerifyReport> {
  return verify(store, refOf(run));
}
