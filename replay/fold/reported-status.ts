import type { RunStatus } from '../../journal/facts/run-event.js';
import type { RunLiveness } from '../../journal/store.js';

/** The status of a run in reports: a journal without an end is one that is still written, or that of a crashed run. */
export type ReportedStatus = RunStatus | 'running' | 'crashed';

export function reportedStatus(recorded: RunStatus | undefined, liveness: RunLiveness): ReportedStatus {
  return recorded ?? (liveness === 'running' ? 'running' : 'crashed');
}
