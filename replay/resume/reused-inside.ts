/**
 * Finds the results that a path of `--resume` leaves as they are although their calls were made inside its calls: the latest run that has
 * the path had reused the call around them, so that it made none of them. calls.md 15.5.
 */
import type { CallKey, OpPath } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { withCallsAround } from '../memo/calls-around.js';
import { usableEntry, type Memo } from '../memo/memo.js';

export interface ReusedInside {
  readonly count: number;
  /** The path at which the first of them was recorded: it names that call. */
  readonly first: OpPath;
}

export async function reusedInside(store: JournalStore, memo: Memo, keys: ReadonlySet<CallKey>): Promise<ReusedInside | undefined> {
  let count = 0;
  let first: OpPath | undefined;
  for (const [key] of memo.within) {
    const result = keys.has(key) ? undefined : usableEntry(memo, key)?.result;
    if (result === undefined || ![...withCallsAround([memo], [key])].some((around) => keys.has(around))) continue;
    count++;
    if (first !== undefined) continue;
    const event = await store.readAt(result.ref, result.position);
    if (event?.type === 'call.completed' && event.key === key) first = event.op;
  }
  return first === undefined ? undefined : { count, first };
}
