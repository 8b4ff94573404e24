/** Reads recorded results, so that a run can reuse them: at once, or when a script uses a large one. */
import type { CallKey } from '../../../../journal/ids.js';
import type { JournalStore } from '../../../../journal/store.js';
import type { UsableEntry } from '../../../../replay/memo/memo.js';
import { readExceeding, readResult } from '../../../../replay/memo/read-result.js';
import { holdsResult, type StoredResult } from '../../../../replay/memo/stored-result.js';
import { decodeResult } from '../../../operation/encode-result.js';
import { measuredIn } from '../../../operation/measured-result.js';
import { metadataFrom } from '../../../operation/result-metadata.js';
import type { Awaitable } from '../../../runtime/awaitable.js';
import type { CachedResult } from '../../../runtime/calls/result-cache.js';
import { NO_RESULT_LABELS, recordedResultLabels, type ResultLabels } from '../../../runtime/calls/result-labels.js';
import type { Outcome } from '../../../runtime/completion.js';
import { NO_LABELS, NO_METADATA, type MeasuredCall } from '../../../values/value.js';
import { OutputExceedsText } from '../../../world/process/output.js';
import { fitsInMemory, HELD_BYTES_MAX, lazyResult } from './lazy-result.js';

export interface ReadingPorts {
  readonly store: JournalStore;
  /** The project's folder. */
  readonly root: string;
}

export interface ReadableResult {
  /** Reads the value; for a large result, not before a script uses it. */
  value(): Outcome;
  readonly labels: ResultLabels;
  readonly isInner?: true;
  readonly files?: CachedResult['files'];
  readonly unresolvedInside?: number;
  readonly measured?: CachedResult['measured'];
}

/** Undefined when the journal doesn't hold the result any more as it was written. Waits for the disk only if it must. */
export function readableResult(
  sources: ReadingPorts,
  key: CallKey,
  { result: stored, fn }: UsableEntry,
): Awaitable<ReadableResult | undefined> {
  const { immediate } = sources.store;
  const { ref, position, form } = stored;
  const isInline = stored.sizeBytes === position.bytes;
  if (!immediate || !isInline || stored.sealed || stored.carries || form === 'word' || position.bytes <= HELD_BYTES_MAX)
    return readValue(sources, key, stored, fn);
  if (!immediate.holds(ref, position, key)) return undefined;
  const place = { ref, key, position, form, fn };
  if (!stored.hasUsage) return { value: () => lazyResult(immediate, place), labels: NO_RESULT_LABELS };
  const measured = (): MeasuredCall | undefined => {
    const event = immediate.readAt(ref, position);
    return holdsResult(event) ? measuredIn(event) : undefined;
  };
  return {
    value: () => lazyResult(immediate, place, { labels: NO_LABELS, sources: NO_LABELS, measured }),
    labels: NO_RESULT_LABELS,
    measured,
  };
}

async function readValue(
  { store, root }: ReadingPorts,
  key: CallKey,
  stored: StoredResult,
  fn: string,
): Promise<ReadableResult | undefined> {
  const exceeding = await readExceeding(store, key, stored);
  if (exceeding) return { value: () => fail(new OutputExceedsText(exceeding)), labels: NO_RESULT_LABELS };
  const { immediate } = store;
  const { ref, position, form } = stored;
  const place = { ref, key, position, form, fn };
  const read = await readResult(store, key, stored);
  if (!read) return undefined;
  const { result, event } = read;
  const known = measuredIn(event);
  const about = {
    labels: recordedResultLabels(event),
    measured: known && (() => known),
    ...(event.reply?.inner && { isInner: true as const }),
    ...(event.files && { files: event.files }),
    ...(event.unresolvedInside !== undefined && { unresolvedInside: event.unresolvedInside }),
  };
  // A word that steers the script (continue, done) is used at once.
  if (immediate && stored.sizeBytes > HELD_BYTES_MAX && form !== 'word' && fitsInMemory(result.notes)) {
    const metadata = { ...NO_METADATA, ...(result.notes[0] && metadataFrom(result.notes[0], root)) };
    return { value: () => lazyResult(immediate, place, metadata), ...about };
  }
  const value = decodeResult(result, root);
  return { value: () => value, ...about };
}

function fail(error: Error): never {
  throw error;
}
