/** One rule for how long a run, and what is in flight in it, took, so that the list of runs and all reports say the same of one run. */
import { startOf, type RunId } from '../../journal/ids.js';

/**
 * Counts from the time in the id of the run, which is before it reads prior runs, to its last event, or to now while it is running.
 *
 * Ids of a workflow only grow. So behind a run of a machine whose clock is ahead, the id of the next one is ahead of its own events.
 */
export function runDurationMs(run: RunId, untilMs: number): number {
  return sinceMs(startOf(run), untilMs);
}

/** Not negative: the clock of who looks may be behind that of the machine where it began. */
export function sinceMs(begunMs: number, untilMs: number): number {
  return Math.max(0, untilMs - begunMs);
}
