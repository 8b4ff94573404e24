/** Finds out, for a plan, which recorded results don't fit `reply` or `schema` as their functions have them now. calls.md 11.3. */
import type { CallKey } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { readExceeding, readResult } from '../../../replay/memo/read-result.js';
import { usable, type Memo } from '../../../replay/memo/memo.js';
import { unjudgedCalls } from '../../../replay/memo/overlay.js';
import type { StoredResult } from '../../../replay/memo/stored-result.js';
import { decodeResult } from '../../operation/encode-result.js';
import { resultNow, type Unfit } from '../../operation/replies/reused-result.js';
import { NO_RESULT_LABELS } from '../../runtime/calls/result-labels.js';
import type { ScriptDefinition } from './current-definitions.js';

interface UnfitRequest {
  readonly store: JournalStore;
  /** Absolute: paths in results are relative to it. */
  readonly root: string;
  readonly nowMs: number;
  readonly current: ReadonlyMap<string, readonly ScriptDefinition[]>;
  /** The memo of the workflow itself, and those of its fork sources. */
  readonly memos: readonly { readonly memo: Memo }[];
}

/**
 * Returns the results whose calls would be executed again, with the option. Reads only results of functions that have such an option, and
 * results that were recorded with one. Where the options are known only during the run, a result counts as fitting.
 */
export async function unfitResults({ current, memos, ...request }: UnfitRequest): Promise<ReadonlyMap<StoredResult, Unfit>> {
  const unfit = new Map<StoredResult, Unfit>();
  for (const { memo } of memos) {
    for (const [key, { fn, result }] of [...usable(memo), ...unjudgedCalls(memo)]) {
      const definitions = current.get(fn) ?? [];
      if (!result.carries && !definitions.some(({ options }) => options?.reply !== undefined || options?.schema !== undefined)) continue;
      const why = await whyUnfit(key, result, definitions, request);
      if (why !== undefined) unfit.set(result, why);
    }
  }
  return unfit;
}

/** A result that fits one of several functions of the name may be that one's. */
async function whyUnfit(
  key: CallKey,
  stored: StoredResult,
  definitions: readonly ScriptDefinition[],
  { store, root, nowMs }: Pick<UnfitRequest, 'store' | 'root' | 'nowMs'>,
): Promise<Unfit | undefined> {
  if (await readExceeding(store, key, stored)) return undefined; // no value holds it, so that nothing looks into it
  const read = await readResult(store, key, stored);
  if (read === undefined) return undefined;
  const known = {
    key,
    from: { run: stored.ref.run, seq: stored.seq },
    resultLabels: NO_RESULT_LABELS,
    outputs: async () => undefined,
    value: () => decodeResult(read.result, root),
    ...(read.event.reply?.inner && { isInner: true as const }),
  };
  let why: Unfit | undefined;
  for (const { options } of definitions) {
    if (options === undefined) return undefined;
    const now = await resultNow(known, options, { nowMs });
    if (now.kind === 'fits') return undefined;
    why ??= now.unfit;
  }
  return why;
}
