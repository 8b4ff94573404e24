/** Reads recorded results from where they lie: the memo holds their places only. */
import type { OutputFile } from '../../journal/event.js';
import type { WrittenFile } from '../../journal/facts/call-event.js';
import type { CallKey } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import type { StoredBlob } from '../../journal/storage/blob-writer.js';
import { TEXT_BYTES_MAX, textTooLarge } from '../../journal/payloads.js';
import { resolveResult, type RecordedResult } from '../fold/recorded-result.js';
import { holdsResult, type ResultEvent, type StoredResult } from './stored-result.js';

/** A result, read when it is needed. Undefined: the journal doesn't hold it any more as it was written: a miss. */
export async function readResult(
  store: JournalStore,
  key: CallKey,
  { ref, position, seq }: StoredResult,
): Promise<{ readonly result: RecordedResult; readonly event: ResultEvent } | undefined> {
  const event = await store.readAt(ref, position);
  if (!holdsResult(event) || event.key !== key || event.seq !== seq) return undefined;
  const result = await resolveResult(store, event);
  return result && { result, event };
}

/** The result as it lies in its blob, where it is too large to be a text. */
export async function readExceeding(
  store: JournalStore,
  key: CallKey,
  { ref, position, sizeBytes }: StoredResult,
): Promise<StoredBlob | undefined> {
  if (sizeBytes <= TEXT_BYTES_MAX) return undefined;
  const event = await store.readAt(ref, position);
  return holdsResult(event) && event.key === key ? textTooLarge(event.result) : undefined;
}

/** Reads the files that the call of a result wrote and its arguments name; undefined when there are none, or it can't be read. */
export async function readFiles(
  store: JournalStore,
  { ref, position, seq, hasFiles }: StoredResult,
): Promise<readonly WrittenFile[] | undefined> {
  const event = hasFiles ? await store.readAt(ref, position) : undefined;
  return holdsResult(event) && event.seq === seq ? event.files : undefined;
}

/** Reads the declared output files of a result; undefined when its call declared none, or when it can't be read. */
export async function readOutputs(store: JournalStore, { ref, position, seq }: StoredResult): Promise<readonly OutputFile[] | undefined> {
  const event = await store.readAt(ref, position);
  return holdsResult(event) && event.seq === seq ? event.outputs : undefined;
}
