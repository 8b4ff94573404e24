/** Finds the calls of an operation in the runs that served its run: their paths differ there, and their keys do not. */
import type { CallKey, RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { isInside } from '../fold/op-path.js';

export async function keysInside(store: JournalStore, ref: RunRef, op: string): Promise<ReadonlySet<CallKey>> {
  const keys = new Set<CallKey>();
  await store.scan(ref, (event) => {
    if ('op' in event && 'key' in event && event.op !== undefined && isInside(event.op, op)) keys.add(event.key);
  });
  return keys;
}

export async function operationsOf(store: JournalStore, ref: RunRef, keys: ReadonlySet<CallKey>): Promise<ReadonlySet<string>> {
  const ops = new Set<string>();
  await store.scan(ref, (event) => {
    if ('op' in event && 'key' in event && event.op !== undefined && keys.has(event.key)) ops.add(event.op);
  });
  return ops;
}
