/** Reads how a run began, and nothing else of it. */
import type { EventOf, JournalEvent } from '../../journal/event.js';
import type { RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';

/** Undefined for a run that was killed before its first event was written. */
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
