/** Completes a request for redaction with the blobs that hold a match. */
import type { RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { RedactionRequest } from '../../../replay/upkeep/redaction.js';
import { searchBlobs } from '../../../replay/upkeep/search-blobs.js';

export async function redactionRequest(
  store: JournalStore,
  ref: RunRef,
  { ops, match, reason }: Pick<RedactionRequest, 'ops' | 'match' | 'reason'>,
): Promise<RedactionRequest> {
  return { ops, match, reason, blobs: match === undefined ? new Set() : await searchBlobs(store, ref, match) };
}
