import type { RunStatus } from '../../journal/facts/run-event.js';
import type { RunLiveness } from '../../journal/store.js';

/** The status of a run in reports: a journal without an end is one that is still written, or that of a crashed run. */
export type ReportedStatus = RunStatus | 'running' | 'crashed';

/** Tells apart, of the runs that reached their end, those of which calls have no result. calls.md 14.2. */
export type CountedStatus = ReportedStatus | 'incomplete';

/** Counts calls without a result: those of the run, and those that the runs before it in its chain have left behind. */
export interface UnresolvedCalls {
  readonly unresolved: number;
  readonly unresolvedBefore: number;
}

export function countedStatus(status: ReportedStatus, { unresolved, unresolvedBefore }: UnresolvedCalls): CountedStatus {
  return status === 'completed' && unresolved + unresolvedBefore > 0 ? 'incomplete' : status;
}

export function reportedStatus(recorded: RunStatus | undefined, liveness: RunLiveness): ReportedStatus {
  return recorded ?? (liveness === 'running' ? 'running' : 'crashed');
}
