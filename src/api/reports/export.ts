/** A run in the formats of other programs: `mlld journal export`. */
import type { JournalStore } from '../../../journal/store.js';
import { CALL_COLUMNS, callRows, type CallRow } from '../../../replay/export/call-rows.js';
import { chromeTrace } from '../../../replay/export/chrome-trace.js';
import { otlpTraces } from '../../../replay/export/otlp.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { timeline } from '../../../replay/reports/timeline/timeline.js';
import { VERSION } from '../../version.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export { CALL_COLUMNS };
export type { CallRow };

/**
 * Returns a run as OpenTelemetry spans, in the JSON form of OTLP that a collector takes at `/v1/traces`. Arguments and results are left
 * out. Exporting twice gives the same trace. Throws RUN_UNKNOWN, and `JournalError` when the disk fails.
 *
 * ```js
 * await fetch('http://localhost:4318/v1/traces', { method: 'POST', body: JSON.stringify(await exportOtlp(store, run)) });
 * ```
 */
export async function exportOtlp(store: JournalStore, run: RunTarget, { onDefect = skipDefects }: ReadOptions = {}): Promise<object> {
  const { ref, liveness } = await runFile(store, run);
  const state = await foldRun(store, ref, timeline, { onDefect });
  return otlpTraces(ref, state, { version: VERSION, isRunning: liveness === 'running' });
}

/**
 * Returns a run as a trace for ui.perfetto.dev and chrome://tracing; times are microseconds, as that format has them. Throws as
 * `exportOtlp`.
 *
 * ```js
 * await writeFile('run.trace.json', JSON.stringify(await exportChromeTrace(store, run)));
 * ```
 */
export async function exportChromeTrace(
  store: JournalStore,
  run: RunTarget,
  { onDefect = skipDefects }: ReadOptions = {},
): Promise<object> {
  const { ref } = await runFile(store, run);
  return chromeTrace(ref, await foldRun(store, ref, timeline, { onDefect }));
}

/**
 * Returns the `llm` calls of a run as rows of a table, whose columns are `CALL_COLUMNS`. Durations in milliseconds, costs in US dollars,
 * `started` in ISO 8601, UTC. Throws as `exportOtlp`.
 *
 * ```js
 * for (const { fn, costUsd } of await exportCalls(store, run)) console.log(fn, costUsd);
 * ```
 */
export async function exportCalls(
  store: JournalStore,
  run: RunTarget,
  { onDefect = skipDefects }: ReadOptions = {},
): Promise<Iterable<CallRow>> {
  const { ref } = await runFile(store, run);
  return callRows(ref, await foldRun(store, ref, timeline, { onDefect }));
}
