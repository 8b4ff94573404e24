/** Which of the contents that a run names hold a match. */
import type { Json } from '../journal/event.js';
import type { BlobId, RunRef } from '../journal/ids.js';
import type { JournalStore } from '../journal/store.js';
import { forEachDigest } from './named-blobs.js';
import { holdsMatch } from './redaction.js';

export async function matchingBlobs(store: JournalStore, ref: RunRef, match: RegExp): Promise<ReadonlySet<BlobId>> {
  const named = new Set<BlobId>();
  await store.scan(ref, (event) => forEachDigest(event, (digest) => named.add(digest)));
  const found = new Set<BlobId>();
  for (const blob of named) {
    const content = await store.getBlob(blob);
    if (content !== undefined && matches(Buffer.from(content).toString(), match)) found.add(blob);
  }
  return found;
}

/** A payload is JSON, in which a text looks different from itself; a source or a file is text. */
function matches(text: string, match: RegExp): boolean {
  if (holdsMatch(text, match)) return true;
  try {
    return holdsMatch(JSON.parse(text) as Json, match);
  } catch {
    return false;
  }
}
