/** What belongs into the bundle of a run: itself, the runs that its answers were served from, and what they name. */
import type { JournalEvent } from '../journal/event.js';
import type { BlobId, RunId, RunRef } from '../journal/ids.js';
import type { JournalStore } from '../journal/store.js';
import { forEachDigest } from './named-blobs.js';

/** The run itself first. Runs that are gone are left out. */
export async function runsToBundle(store: JournalStore, ref: RunRef): Promise<readonly RunRef[]> {
  const lenders = new Set<RunId>();
  await store.scan(ref, (event) => {
    if (event.type === 'call.reused') lenders.add(event.from.run);
  });
  lenders.delete(ref.run);
  const found = await Promise.all([...lenders].sort().map((run) => store.find(run)));
  return [ref, ...found.filter((lender) => lender !== undefined)];
}

/** The contents that events of a run name once an edit has gone over them. */
export async function contentsOf(
  store: JournalStore,
  ref: RunRef,
  edit: (event: JournalEvent) => JournalEvent | undefined,
): Promise<ReadonlyMap<BlobId, Uint8Array>> {
  const named = new Set<BlobId>();
  await store.scan(ref, (event) => forEachDigest(edit(event) ?? event, (digest) => named.add(digest)));
  const contents = new Map<BlobId, Uint8Array>();
  for (const blob of named) {
    const content = await store.getBlob(blob);
    if (content !== undefined) contents.set(blob, content);
  }
  return contents;
}
