/** A run in the formats of other programs: `mlld journal export`. */
import type { Json, Payload } from '../../../journal/event.js';
import type { RunId, RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { ATTEMPT_COLUMNS, attemptRows, CALL_COLUMNS, callRows, type AttemptRow, type CallRow } from '../../../replay/export/call-rows.js';
import { chromeTrace } from '../../../replay/export/chrome-trace.js';
import { messagesOf } from '../../../replay/export/gen-ai.js';
import { otlpDocument, otlpSpans } from '../../../replay/export/otlp.js';
import { spanObject, type Attributes, type TraceparentOf } from '../../../replay/export/otlp-span.js';
import { foldRun, firstEvent } from '../../../replay/fold/fold-run.js';
import { endCrashedRun } from '../../../replay/reports/postmortem/salvaged-calls.js';
import { reportStore } from '../../../replay/reports/report-store.js';
import { callsOf, timeline, type Timeline, type TimelineCall } from '../../../replay/reports/timeline/timeline.js';
import { VERSION } from '../../version.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export { ATTEMPT_COLUMNS, CALL_COLUMNS };
export type { AttemptRow, CallRow };

export interface OtlpExportOptions extends ReadOptions {
  /** Also export the arguments and results of calls; those that the journal holds sealed or redacted are left out. */
  readonly withContent?: boolean;
}

/** A part of the spans of a run as a document of its own. */
export interface OtlpBatch {
  readonly spans: number;
  readonly document: object;
}

/** Collectors refuse larger requests; a single larger span is a batch of its own. */
const BATCH_SPANS_MAX = 512;
const BATCH_UNITS_MAX = 1_000_000;

/**
 * Returns a run as OpenTelemetry spans, in the JSON form of OTLP that a collector takes at `/v1/traces`. Arguments and results are left
 * out, unless `withContent` is set. Exporting twice gives the same trace. Throws RUN_UNKNOWN, and `JournalError` when the disk fails.
 *
 * ```js
 * const { resourceSpans } = await exportOtlp(store, run);
 * ```
 */
export async function exportOtlp(store: JournalStore, run: RunTarget, options: OtlpExportOptions = {}): Promise<object> {
  const { ref, state, spans } = await openSpans(store, run, options);
  const all: object[] = [];
  for await (const span of spans) all.push(span);
  return otlpDocument(ref, state, all, { version: VERSION });
}

/** Yields the same in batches of bounded size. Throws as `exportOtlp`. */
export async function* otlpBatches(store: JournalStore, run: RunTarget, options: OtlpExportOptions = {}): AsyncGenerator<OtlpBatch> {
  const { ref, state, spans } = await openSpans(store, run, options);
  let batch: object[] = [];
  let units = 0;
  const take = (): OtlpBatch => {
    const taken = { spans: batch.length, document: otlpDocument(ref, state, batch, { version: VERSION }) };
    [batch, units] = [[], 0];
    return taken;
  };
  for await (const span of spans) {
    const spanUnits = JSON.stringify(span).length;
    if (batch.length === BATCH_SPANS_MAX || (batch.length > 0 && units + spanUnits > BATCH_UNITS_MAX)) yield take();
    batch.push(span);
    units += spanUnits;
  }
  if (batch.length > 0) yield take();
}

async function openSpans(journal: JournalStore, run: RunTarget, { onDefect = skipDefects, withContent = false }: OtlpExportOptions) {
  const store = reportStore(journal);
  const { ref, liveness } = await runFile(store, run);
  const state = await foldRun(store, ref, timeline, { onDefect });
  const traceparent = await traceparentsOf(store, ref, state);
  return { ref, state, spans: written() };

  async function* written(): AsyncGenerator<object> {
    for (const { parts, call } of otlpSpans(ref, state, { version: VERSION, isRunning: liveness === 'running' })) {
      const messages = withContent && call ? await messagesOfCall(store, ref, call) : {};
      yield spanObject(ref, { ...parts, about: { ...parts.about, ...messages } }, traceparent);
    }
  }
}

/** Links lead to the traces of the runs that recorded the reused results; of one that is gone, to the trace that it would have had. */
async function traceparentsOf(store: JournalStore, ref: RunRef, state: Timeline): Promise<TraceparentOf> {
  const known = new Map<RunId, string | undefined>([[ref.run, state.traceparent]]);
  for (const { call } of callsOf(state)) {
    if (call.from === undefined || known.has(call.from.run)) continue;
    const { workflow = ref.workflow, run } = call.from;
    known.set(run, await startedIn(store, { workflow, run }));
  }
  return ({ run }) => known.get(run);
}

async function startedIn(store: JournalStore, ref: RunRef): Promise<string | undefined> {
  if ((await store.find(ref.run)) === undefined) return undefined;
  const first = await firstEvent(store, ref);
  return first?.type === 'run.started' ? first.traceparent : undefined;
}

/** Leaves out what is sealed: a trace is read by people who have no key. */
async function messagesOfCall(store: JournalStore, ref: RunRef, { startedAt, endedAt, attempts }: TimelineCall): Promise<Attributes> {
  const started = startedAt && (await store.readAt(ref, startedAt));
  const completed = endedAt && (await store.readAt(ref, endedAt));
  const args = started?.type === 'call.started' ? await clearPayload(store, started.args) : undefined;
  const result = completed?.type === 'call.completed' ? await clearPayload(store, completed.result) : undefined;
  return messagesOf(args, result, attempts.at(-1)?.finishReason);
}

async function clearPayload(store: JournalStore, payload: Payload): Promise<Json | undefined> {
  const isClear = 'inline' in payload || ('blob' in payload && payload.keyId === undefined);
  return isClear ? store.resolve(payload) : undefined;
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
  journal: JournalStore,
  run: RunTarget,
  { onDefect = skipDefects }: ReadOptions = {},
): Promise<object> {
  const store = reportStore(journal);
  const file = await runFile(store, run);
  const state = await foldRun(store, file.ref, timeline, { onDefect });
  await endCrashedRun(store, file, state.ledger);
  return chromeTrace(file.ref, state);
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
  return callRows(ref, await foldRun(reportStore(store), ref, timeline, { onDefect }));
}

/**
 * Returns the attempts of the `llm` calls of a run as rows of a table, whose columns are `ATTEMPT_COLUMNS`: one for each execution of a
 * body, failed ones and those in flight included. Units as of `exportCalls`; `call` is the `seq` of the call in those rows. Throws as
 * `exportOtlp`.
 *
 * ```js
 * for (const { fn, class: cause } of await exportAttempts(store, run)) if (cause) console.log(fn, cause);
 * ```
 */
export async function exportAttempts(
  store: JournalStore,
  run: RunTarget,
  { onDefect = skipDefects }: ReadOptions = {},
): Promise<Iterable<AttemptRow>> {
  const { ref } = await runFile(store, run);
  return attemptRows(ref, await foldRun(reportStore(store), ref, timeline, { onDefect }));
}
