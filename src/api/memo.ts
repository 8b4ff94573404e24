/** The results that the next run of a workflow may reuse. */
import type { Json } from '../../journal/event.js';
import type { CallKey, EventRef, Fingerprint, Workflow } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import type { RecordedResult } from '../../replay/fold/recorded-result.js';
import { loadWorkflow } from '../../replay/memo/load.js';
import { usable } from '../../replay/memo/memo.js';
import { readResult } from '../../replay/memo/read-result.js';
import { skipDefects, type ReadOptions } from './run-target.js';

/** A result that a later run reuses for a call of the same key. */
export interface ReusableResult {
  readonly key: CallKey;
  /** Name of the function; empty where the line that named it is damaged. */
  readonly fn: string;
  /** Changes when the definition of the function does; undefined where it is not recorded. */
  readonly fingerprint: Fingerprint | undefined;
  /** The beginning of the first argument; undefined without one, and where it is secret. */
  readonly preview: string | undefined;
  /** The `call.completed` that holds the result. */
  readonly at: EventRef;
  /** Milliseconds since 1970. */
  readonly endedMs: number;
  readonly elapsedMs: number;
  readonly sizeBytes: number;
  /** Reads the result. Undefined when the journal does not hold it any more as it was written, or it is sealed with another key. */
  value(): Promise<Json | undefined>;
}

export interface MemoOptions extends ReadOptions {
  /** The results as they were at the end of this run, or at this event of it, which still counts. */
  readonly until?: { readonly run: EventRef['run']; readonly seq?: EventRef['seq'] };
}

/**
 * Lists the results of a workflow that a run with `checkpoint` would reuse, in the order in which their calls were first made. Durations in
 * milliseconds. Throws `JournalError` when the disk fails.
 *
 * ```js
 * for (const { fn, preview, value } of await memoOf(store, workflow)) console.log(fn, preview, await value());
 * ```
 */
export async function memoOf(
  store: JournalStore,
  workflow: Workflow,
  { onDefect = skipDefects, until }: MemoOptions = {},
): Promise<readonly ReusableResult[]> {
  const { memo } = await loadWorkflow(store, workflow, { onDefect, ...(until && { until }) });
  return [...usable(memo)].map(([key, { fn, fingerprint, preview, result }]) => ({
    key,
    fn,
    fingerprint,
    preview,
    at: { run: result.ref.run, seq: result.seq },
    endedMs: result.endedMs,
    elapsedMs: result.elapsedMs,
    sizeBytes: result.sizeBytes,
    value: async () => {
      const read = await readResult(store, key, result);
      return read && dataOf(read.result);
    },
  }));
}

/** The data of a result without what the language knows beside it; of a word of control (`done`, `continue`) what that carries. */
function dataOf({ json, form }: Pick<RecordedResult, 'json' | 'form'>): Json {
  if (form === 'text' && typeof json === 'string') return JSON.parse(json) as Json;
  if (form !== 'word') return json;
  const { value = null, form: inner } = json as { readonly value?: Json; readonly form?: RecordedResult['form'] };
  return dataOf({ json: value, form: inner });
}
