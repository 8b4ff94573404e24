/** Puts a memo over the rows of an index, and takes out of it what changed since. */
import type { CallKey } from '../../../journal/ids.js';
import type { KeyedStates } from '../keyed-states.js';
import { memo, type Memo, type MemoEntry } from '../memo.js';
import type { Row } from './row.js';
import { TieredMap, type RowsBelow } from './tiered-map.js';
import { TieredRows } from './tiered-rows.js';

export function memoOver(rows: RowsBelow): Memo {
  return {
    ...memo.initial(),
    entries: new TieredMap<MemoEntry>(rows, ({ entry }) => entry, { notesNew: true }),
    within: new TieredMap<Set<CallKey>>(rows, ({ within }) => within && new Set(within)),
    calledIn: new TieredMap<number>(rows, ({ calledIn }) => calledIn),
  };
}

/** Returns the tiers that a memo is over; undefined when it is over none. */
export function tiersOf({ entries }: Memo): TieredRows | undefined {
  const below = entries instanceof TieredMap ? entries.below : undefined;
  return below instanceof TieredRows ? below : undefined;
}

/** Says that the memo looks its calls up in an index without tiers, as a store without files has it, or an older program wrote it. */
export function isOverIndex({ entries }: Memo): boolean {
  return entries instanceof TieredMap && entries.below !== undefined && !(entries.below instanceof TieredRows);
}

/** Takes all out of the rows below, so that all counts as changed. */
export function detach({ entries, within, calledIn }: Memo): void {
  for (const states of [entries, within, calledIn]) if (states instanceof TieredMap) states.detach();
}

/** Counts the calls that the next index has to hold at least. */
export function changeCount({ entries, calledIn }: Memo): number {
  const rewritten = entries instanceof TieredMap ? (entries.below?.rewritten ?? 0) : 0;
  return rewritten + Math.max(changesOf(entries).size, changesOf(calledIn).size);
}

/** Returns a row for each call that changed since the rows below. New ones get an order that begins with `calls`. */
export function changedRows({ entries, within, calledIn }: Memo, calls: number): readonly Row[] {
  const [changedEntries, changedWithin, changedCalls] = [changesOf(entries), changesOf(within), changesOf(calledIn)];
  const isNew = (key: CallKey): boolean => !(entries instanceof TieredMap) || entries.isNew(key);
  let order = calls;
  const rows: Row[] = [];
  const put = (key: CallKey, entry: MemoEntry | undefined): void => {
    const around = changedWithin.size === 0 ? undefined : changedWithin.get(key);
    const number = entry !== undefined && isNew(key) ? order++ : undefined;
    rows.push({ key, order: number, entry, calledIn: changedCalls.get(key), within: around && [...around] });
  };
  for (const [key, entry] of changedEntries) put(key, entry);
  if (!(entries instanceof TieredMap)) return rows; // it has all of them
  for (const key of changedCalls.keys()) if (!changedEntries.has(key)) put(key, undefined);
  for (const key of changedWithin.keys()) if (!changedEntries.has(key) && !changedCalls.has(key)) put(key, undefined);
  return rows;
}

function changesOf<State>(states: KeyedStates<State>): ReadonlyMap<CallKey, State> {
  if (states instanceof TieredMap) return (states as TieredMap<State>).changes;
  return states as Map<CallKey, State>;
}
