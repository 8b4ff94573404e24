/** Checks that the journal of a run is whole and a possible history: `mlld journal verify`. */
import type { JournalStore } from '../../../journal/store.js';
import { verifyRun as verify, type VerifyReport } from '../../../replay/reports/audit/verify.js';
import { runsAsOne } from '../../../replay/upkeep/runs-as-one.js';
import { refOf, type RunTarget } from '../run-target.js';

export type { VerifyReport, Violation } from '../../../replay/reports/audit/verify.js';

export interface VerifiedRun extends VerifyReport {
  /** The runs that it is one with: those of workers that served it, and those of what was salvaged from it. `ok` of each is its own. */
  readonly serving: readonly VerifyReport[];
}

/**
 * Reads a run in full, and those that it is one with, and checks the hash chain, the order of the events and that each blob they name is
 * there. Never throws for damage: that is in the report. A run that does not exist has 0 events. Throws `JournalError` when the disk fails.
 *
 * ```js
 * const { ok, defects, violations } = await verifyRun(store, run);
 * ```
 */
export async function verifyRun(store: JournalStore, run: RunTarget): Promise<VerifiedRun> {
  const report = await verify(store, refOf(run));
  const serving = [];
  for (const { ref } of (await runsAsOne(store, report.ref)).slice(1)) serving.push(await verify(store, ref));
  return { ...report, serving };
}
