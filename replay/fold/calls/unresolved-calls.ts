/** Counts the unresolved calls of a run: the failed ones that are not accepted, and those that were not executed. calls.md 14.1. */
import type { OpPath } from '../../../journal/ids.js';
import { addTo } from './call-counts.js';
import type { CallLedger } from './call-ledger.js';
import type { CallCause } from './failure-class.js';
import { ancestorsOf } from '../op-path.js';
import { failedInBranches } from './stage-retries.js';

/** Counts the unresolved calls by the class of their last attempt. */
export function unresolvedByClass({ failures }: CallLedger): { readonly [cause in CallCause]?: number } {
  const counts: { [cause in CallCause]?: number } = {};
  for (const calls of failures.byKey.values()) {
    for (const { end } of calls) if (!end.isAccepted) addTo(counts, end.cause ?? 'crash', 1);
  }
  return counts;
}

/**
 * Counts the unresolved calls that a parallel node leaves behind which goes on: those of visits in its branches that have `finished`, other
 * than as failed, and those of branches that have ended as failed. calls.md 17.3.
 */
export function unresolvedInBranches({ stages, failures }: CallLedger, parallel: OpPath, finished: ReadonlySet<OpPath>): number {
  const left = new Set([...failedInBranches(stages, parallel)].map(({ failed }) => failed));
  const isBehind = (op: OpPath): boolean => op.startsWith(`${parallel}[`) && [...ancestorsOf(op)].some((around) => finished.has(around));
  let count = 0;
  for (const calls of failures.byKey.values()) {
    for (const failed of calls) if (!failed.end.isAccepted && (left.has(failed) || isBehind(failed.op))) count += 1;
  }
  return count;
}
