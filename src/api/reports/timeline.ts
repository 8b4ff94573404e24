/** A run as spans in time: what `mlld journal report --json` prints. */
import type { JournalStore } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { reportData, type ReportData } from '../../../replay/reports/timeline/report.js';
import { timeline } from '../../../replay/reports/timeline/timeline.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export type { ModelTally, ReportData, SpanColumns, SpanState, Tally } from '../../../replay/reports/timeline/report.js';

/**
 * Returns the spans of a run as columns, with totals by function and by checkpoint: what `mlld journal report --json` prints. Times of
 * spans are milliseconds since the start of the run, costs US dollars. Throws RUN_UNKNOWN, and `JournalError` when the disk fails.
 *
 * ```js
 * const { spans, total } = await timelineOf(store, run);
 * const slowest = Math.max(...spans.end.map((end, index) => end - spans.start[index]));
 * ```
 */
export async function timelineOf(store: JournalStore, run: RunTarget, { onDefect = skipDefects }: ReadOptions = {}): Promise<ReportData> {
  const { ref, liveness } = await runFile(store, run);
  return reportData(ref, await foldRun(store, ref, timeline, { onDefect }), liveness);
}
