/**
 * Folds the marks of `journal reject` into the memo. calls.md 15.
 *
 * REJECT-1 a rejection concerns one result, the one that `from` names, and no later one of the same call
 * REJECT-2 a restoration brings that result back, unless the call was completed or its result invalidated since
 * REJECT-3 a rejected result of a fork source is refused by the forking workflow alone: the source's memo knows nothing of it
 * REJECT-4 a result that waits for guards is rejected with one inside its call that it was made of, and restored with it
 */
import type { EventOf } from '../../journal/event.js';
import type { CallKey, EventRef, Workflow } from '../../journal/ids.js';
import type { Memo } from './memo.js';
import type { StoredResult } from './stored-result.js';
import type { UnjudgedCall } from './unjudged-results.js';

export interface Rejection {
  /** The event that holds the result; `workflow` is that of the fork source it was taken from. */
  readonly from: EventRef & { readonly workflow?: Workflow };
  /** The workflow's own result, which a restoration makes usable again. */
  readonly result?: StoredResult;
  /** Present where the result waited for the guards of its call (REJECT-4). */
  readonly waited?: Omit<UnjudgedCall, 'result'>;
}

/** Returns whether the event is the one that holds the result. */
export function isAt({ ref, seq }: Pick<StoredResult, 'ref' | 'seq'>, from: EventRef): boolean {
  return ref.run === from.run && seq === from.seq;
}

export function rejectResult(state: Memo, { key, from }: EventOf<'result.rejected'>): Memo {
  if (from.workflow !== undefined) {
    if (state.refused.has(key)) return state;
    state.refused.add(key);
    state.rejected.set(key, { from });
    return state;
  }
  const waiting = state.unjudged.get(key);
  if (waiting !== undefined && isAt(waiting.result, from)) {
    const { result, ...waited } = waiting;
    state.rejected.set(key, { from, result, waited });
    state.unjudged.delete(key);
    return state;
  }
  const entry = state.entries.get(key);
  if (entry?.result === undefined || !isAt(entry.result, from)) return state;
  state.rejected.set(key, { from, result: entry.result });
  state.entries.set(key, { ...entry, result: undefined });
  return state;
}

export function restoreResult(state: Memo, { key, from }: EventOf<'result.restored'>): Memo {
  const known = state.rejected.get(key);
  if (known === undefined || known.from.run !== from.run || known.from.seq !== from.seq) return state;
  state.rejected.delete(key);
  if (known.from.workflow !== undefined) {
    state.refused.delete(key);
    return state;
  }
  const { result, waited } = known;
  const entry = state.entries.get(key);
  if (entry === undefined || entry.result !== undefined || result === undefined) return state;
  if (waited === undefined) state.entries.set(key, { ...entry, result });
  else if (!state.unjudged.has(key)) state.unjudged.set(key, { result, ...waited });
  return state;
}

/** An invalidation outlasts a restoration (REJECT-2). `borrowed`: of forked results. */
export function forgetRejections(
  state: Memo,
  { keys, borrowed }: { readonly keys: readonly CallKey[]; readonly borrowed?: boolean },
): void {
  if (state.rejected.size === 0) return;
  for (const key of keys) {
    const known = state.rejected.get(key);
    if (known !== undefined && (known.from.workflow !== undefined) === (borrowed === true)) state.rejected.delete(key);
  }
}
