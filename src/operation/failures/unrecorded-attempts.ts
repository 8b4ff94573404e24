/** Counts the attempts of calls of which nothing is recorded, so that their run reports them. calls.md 2.5 and 14.1. */
import type { CallKey } from '../../../journal/ids.js';
import { callKey } from '../../runtime/calls/call-key.js';
import type { AttemptRecord } from '../attempts/call-progress.js';
import type { CacheableCall } from '../cacheable-call.js';

export function countedAttempts({ run: { recorder }, op, operation, llm }: CacheableCall): AttemptRecord {
  const call = { key: op.path as string as CallKey, op: op.path }; // the count looks at the key of an end alone
  return {
    async started({ try: tried }, started, mayBegin) {
      if (mayBegin?.() === false) return undefined;
      const lane = started && { lane: started.lane };
      const requested = operation.repeat && { isRequested: true };
      recorder.count?.({ type: 'call.started', ...call, fn: llm.fn, ...requested, ...lane, ...(tried > 1 && { try: tried }) });
      return undefined;
    },
    async failed(fact) {
      recorder.count?.({ type: 'call.failed', ...call, ...fact });
    },
  };
}

/** Returns what tells equal calls: a failed call has a result when another call of its key has one. */
export async function countedKey({ op, llm, operation }: CacheableCall): Promise<CallKey> {
  try {
    const formed = await llm.ownRequest?.(operation.inputs);
    if (formed) return callKey(formed.request);
  } catch {
    // A key that can't be formed must not fail a call that has ended: the call then equals none but itself.
  }
  return op.path as string as CallKey;
}
