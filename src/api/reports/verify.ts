/** Checks that the journal of a run is whole and a possible history: `mlld journal verify`. */
import type { JournalStore } from '../../../journal/store.js';
import { verifyRun as verify, type VerifyReport } from '../../../replay/reports/audit/verify.js';
import { runsAsOne } from '../../../replay/upkeep/runs-as-one.js';
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

/** Does the same for a run and for those that it is one with: runs of workers, and of salvage. The run itself is first. */
export async function verifyAsOne(store: JournalStore, run: RunTarget): Promise<readonly VerifyReport[]> {
  const others = (await runsAsOne(store, refOf(run))).map(({ ref }) => ref).slice(1);
  const reports = [];
  for (const each of [refOf(run), ...others]) reports.push(await verify(store, each));
  return reports;
}
