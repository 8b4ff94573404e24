/** A run as spans in time: what `mlld journal report --json` prints. */
import type { JournalStore } from '../../../journal/store.js';
import { endCrashedRun } from '../../../replay/reports/postmortem/salvaged-calls.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { reportData, type ReportData } from '../../../replay/reports/timeline/report.js';
import { readDetails, type SpanDetails } from '../../../replay/reports/timeline/report-details.js';
import { timeline } from '../../../replay/reports/timeline/timeline.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export type { SpanDetails } from '../../../replay/reports/timeline/report-details.js';
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
export async function timelineOf(store: JournalStore, run: RunTarget, options: ReadOptions = {}): Promise<ReportData> {
  return (await openTimeline(store, run, options)).data;
}

export interface OpenTimeline {
  readonly data: ReportData;
  /** Reads arguments and results of each span from the store, in the order of the columns; null for a span that has none. */
  details(): AsyncIterable<SpanDetails | null>;
}

/** As `timelineOf`, with the arguments and results that a page shows when a span is selected. */
export async function openTimeline(
  journal: JournalStore,
  run: RunTarget,
  { onDefect = skipDefects }: ReadOptions = {},
): Promise<OpenTimeline> {
  const store = reportStore(journal);
  const file = await runFile(store, run);
  const { ref, liveness } = file;
  const state = await foldRun(store, ref, timeline, { onDefect });
  await endCrashedRun(store, file, state.ledger);
  return {
    data: reportData(ref, state, liveness),
    async *details() {
      yield* await readDetails(store, ref, state.spans, Number.POSITIVE_INFINITY);
    },
  };
}
