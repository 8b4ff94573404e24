/** Finds the blobs that an event names. Looks at every text of it, so that members which this version doesn't know count too. */
import type { JournalEvent, Json } from '../../journal/event.js';
import { isDigest, type BlobId } from '../../journal/ids.js';

/** Also digests that name something else: call keys, fingerprints. */
export function forEachDigest(event: JournalEvent, visit: (digest: BlobId) => void): void {
  // An event is a line of JSON.
  walk(event as unknown as Json, visit);
}

function walk(value: Json | undefined, visit: (digest: BlobId) => void): void {
  if (typeof value === 'string') {
    if (isDigest(value)) visit(value);
  } else if (typeof value === 'object' && value !== null) for (const member of Object.values(value) as Json[]) walk(member, visit);
}
