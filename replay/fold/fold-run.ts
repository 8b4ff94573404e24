/** Reads one run from a store and folds it, or the beginning of one. */
import type { EventOf, JournalEvent } from '../../journal/event.js';
import type { RunRef } from '../../journal/ids.js';
import type { JournalStore, ScanOptions } from '../../journal/store.js';
import type { Projection } from './projection.js';

/** Any projection over one run. */
export async function foldRun<State>(
  store: JournalStore,
  ref: RunRef,
  projection: Projection<State>,
  options: ScanOptions = {},
): Promise<State> {
  let state = projection.initial();
  await store.scan(ref, (event, position) => void (state = projection.apply(state, event, { ref, position })), options);
  return state;
}

/** Reads the first event alone. Undefined for a run that was killed before it was written. */
export async function firstEvent(store: JournalStore, ref: RunRef): Promise<JournalEvent | undefined> {
  let first: JournalEvent | undefined;
  await store.scan(ref, (event) => void (first = event), { eventsMax: 1 });
  return first;
}

/** Undefined where it can't be read. */
export async function startOfRun(store: JournalStore, ref: RunRef): Promise<EventOf<'run.started'> | undefined> {
  const first = await firstEvent(store, ref);
  return first?.type === 'run.started' ? first : undefined;
}
