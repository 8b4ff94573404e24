/** One rule for how long a run took, so that the list of runs and all reports say the same of one run. */
import { startOf, type RunId } from '../../journal/ids.js';

/** Counts from the time in the id of the run, which is before it reads prior runs, to its last event, or to now while it is running. */
export function runDurationMs(run: RunId, untilMs: number): number {
  return untilMs - startOf(run);
}
