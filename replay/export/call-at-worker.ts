/** Exports a call that a worker executed for the run as an executed one, and not as the reuse that the journal has. team-store.md 7. */
import type { TimelineCall } from '../reports/timeline/timeline.js';

export function outcomeOf({ outcome, worker }: TimelineCall): TimelineCall['outcome'] {
  return outcome === 'reused' && worker ? 'executed' : outcome;
}

/** The milliseconds from the offer to the end, the wait for a worker included; undefined for other calls. */
export function timeAtWorkerMs({ worker, startedMs, endedMs }: TimelineCall): number | undefined {
  return worker && endedMs !== undefined ? endedMs - startedMs : undefined;
}
