/** Counts the unresolved calls of a run: the failed ones that are not accepted, and those that were not executed. calls.md 14.1. */
import type { OpPath } from '../../../journal/ids.js';
import { addTo } from './call-counts.js';
import type { CallLedger } from './call-ledger.js';
import { isLeft } from './failed-calls.js';
import type { CallCause } from './failure-class.js';
import { failedInBranches } from './stage-retries.js';

/** Counts the unresolved calls by the class of their last attempt. */
export function unresolvedByClass({ failures }: CallLedger): { readonly [cause in CallCause]?: number } {
  const counts: { [cause in CallCause]?: number } = {};
  for (const calls of failures.byKey.values()) {
    for (const { end } of calls) if (!end.isAccepted) addTo(counts, end.cause ?? 'crash', 1);
  }
  return counts;
}

/** Counts the unresolved calls of branches that have ended as failed in a parallel node which goes on. calls.md 17.3. */
export function unresolvedInBranches({ stages, failures }: CallLedger, parallel: OpPath): number {
  const failed = [...failedInBranches(stages, parallel)];
  return failed.filter((each) => !each.failed.end.isAccepted && isLeft(failures, each.key, each.failed)).length;
}
