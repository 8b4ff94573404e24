/** One rule for how long a run, and what is in flight in it, took, so that the list of runs and all reports say the same of one run. */
import { startOf, type RunId } from '../../journal/ids.js';

/**
 * A run that is over took the time from its first event to its last one: the same clock has written both. Its id has another clock in the
 * store of a team, that of the server, and is ahead of its own events where the machine's clock was set back.
 *
 * `firstMs` is undefined where the first event can't be read; the id is what is left then.
 */
export function runDurationMs(run: RunId, { firstMs, lastMs }: { readonly firstMs: number | undefined; readonly lastMs: number }): number {
  return sinceMs(firstMs ?? startOf(run), lastMs);
}

/** The same, from the times of its first and its last event as texts; 0 where nothing of it can be read. */
export function recordedMs({ firstTs, lastTs }: { readonly firstTs: string | undefined; readonly lastTs: string | undefined }): number {
  return firstTs === undefined || lastTs === undefined ? 0 : sinceMs(Date.parse(firstTs), Date.parse(lastTs));
}

/** A run in flight is counted from its id: the clock of the store is nearer to that of who looks than that of any machine. */
export function runningForMs(run: RunId, nowMs: number): number {
  return sinceMs(startOf(run), nowMs);
}

/** Not negative: the clock of who looks may be behind that of the machine where it began. */
export function sinceMs(begunMs: number, untilMs: number): number {
  return Math.max(0, untilMs - begunMs);
}
