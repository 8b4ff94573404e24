/** Finds the blobs named by a run that hold a match. */
import { TEXT_BYTES_MAX } from '../../journal/payloads.js';
import type { Json } from '../../journal/event.js';
import type { BlobId, RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { forEachDigest } from './blob-references.js';
import { holdsMatch } from './redaction.js';

export async function searchBlobs(store: JournalStore, ref: RunRef, match: RegExp): Promise<ReadonlySet<BlobId>> {
  const named = new Set<BlobId>();
  await store.scan(ref, (event) => forEachDigest(event, (digest) => named.add(digest)));
  const found = new Set<BlobId>();
  for (const blob of named) {
    const content = await store.getBlob(blob);
    if (
      content !== undefined &&
      someText(Buffer.from(content.buffer as ArrayBuffer, content.byteOffset, content.length), (text) => matches(text, match))
    )
      found.add(blob);
  }
  return found;
}

/** Searches a blob that no text can hold in overlapping pieces: a match of more than `OVERLAP_BYTES` may be cut at their borders. */
function someText(content: Buffer, test: (text: string) => boolean): boolean {
  if (content.length <= TEXT_BYTES_MAX) return test(content.toString());
  for (let at = 0; at < content.length; at += PIECE_BYTES - OVERLAP_BYTES)
    if (test(content.toString('utf8', at, Math.min(at + PIECE_BYTES, content.length)))) return true;
  return false;
}

const PIECE_BYTES = 64 * 1024 * 1024;
const OVERLAP_BYTES = 1024 * 1024;

/** A payload is JSON, in which a text looks different from itself; a source or a file is text. */
function matches(text: string, match: RegExp): boolean {
  if (holdsMatch(text, match)) return true;
  try {
    return holdsMatch(JSON.parse(text) as Json, match);
  } catch {
    return false;
  }
}
