/** The port to what is paid for: the folds decide, this reads and encodes. */
import type { Json, Payload } from '../../../journal/event.js';
import type { BlobId, CallKey, EventRef, Fingerprint, RunRef } from '../../../journal/ids.js';
import { digestingSecrets, KEY_BYTES, type Secrets } from '../../../journal/secrets/sealing.js';
import type { JournalStore } from '../../../journal/store.js';
import { readResult, readExceeding, readOutputs } from '../../../replay/memo/read-result.js';
import type { OverlayHit, Overlay } from '../../../replay/memo/overlay.js';
import { previewOf } from '../../../replay/fold/preview.js';
import { cachePolicy, type CachePolicy, type PolicyFlags, type ResumeMode, type Scope } from '../../../replay/memo/policy.js';
import { isTooDeep, jsonSize } from '../../../journal/canonical.js';
import type { StoredResult, UsableEntry } from '../../../replay/memo/memo.js';
import { NO_RESULT_LABELS, recordedResultLabels, type ResultLabels } from '../../runtime/result-labels.js';
import { decodeResult } from '../../operation/encode-result.js';
import { metadataFrom } from '../../operation/result-metadata.js';
import type { ResultCache, CacheQuery, HeldResult, CachedResult, OutputFiles } from '../../runtime/result-cache.js';
import type { Awaitable } from '../../runtime/awaitable.js';
import { InFlightCalls } from '../../runtime/in-flight-calls.js';
import type { Outcome } from '../../runtime/completion.js';
import { NO_METADATA, metadataOf } from '../../values/value.js';
import { randomKey } from '../../world/host.js';
import { OutputExceedsText } from '../../world/process/output.js';
import { NO_OUTPUT_FILES } from './output-files.js';
import { fitsInMemory, HELD_BYTES_MAX, lazyResult } from './lazy-result.js';

/** For runs that record nothing. */
export function NO_RESULT_CACHE(): ResultCache {
  return {
    policy: () => ({ records: false, serves: false }),
    inFlight: new InFlightCalls(),
    recordedDefinitions: new Set(),
    files: NO_OUTPUT_FILES,
    lookup: async () => undefined,
    decline: () => {},
    recall: (_recorded, _encoded, _fn, fresh) => fresh,
    payload: async (value) => ({ inline: value }),
    preview: () => undefined,
    secretPayload: async () => ({ redacted: 'nothing is recorded' }),
    secretKey: async (key) => key,
    digest: async () => '',
    hold: () => {},
    keepText: async () => undefined,
    enterScope: () => {},
    warnStaleHit: () => {},
  };
}

export interface CacheSources {
  readonly store: JournalStore;
  /** The same, and waits for a disk that takes nothing: for what was paid for. */
  readonly retrying: JournalStore;
  /** The project's folder. */
  readonly root: string;
  readonly ref: RunRef;
  readonly overlay: Overlay;
  readonly flags: PolicyFlags;
  readonly header: ResumeMode | undefined;
  readonly nowMs: () => number;
  readonly files: OutputFiles;
  readonly onTrouble: (error: Error) => void;
  /** What could not be stored is no result. */
  readonly onGap: (error: Error) => void;
  /** A stored result can't be read any more; `then` says what comes in its place. */
  readonly onUnreadable: (fn: string, then: string) => void;
  /** What was kept with a key in earlier runs; undefined when there was none. */
  readonly secrets: Secrets | undefined;
  /** A stored result can't be opened, or what was asked with secrets was recorded under another key: it is not served. */
  readonly onOtherKey: (question: Pick<CacheQuery, 'fn'>) => Promise<void>;
}

interface ReadableResult {
  /** Known only when a script looks at it. */
  value(): Outcome;
  readonly labels: ResultLabels;
}

/** How the value is had when it is wanted; undefined when the journal doesn't hold it any more as it was written. */
function readableResult(sources: CacheSources, key: CallKey, { result: answer, fn }: UsableEntry): Awaitable<ReadableResult | undefined> {
  const { immediate } = sources.store;
  const { ref, position, form } = answer;
  const isInline = answer.sizeBytes === position.bytes;
  if (!immediate || !isInline || answer.sealed || answer.carries || form === 'word' || position.bytes <= HELD_BYTES_MAX)
    return readValue(sources, key, answer, fn);
  if (!immediate.holds(ref, position, key)) return undefined;
  return { value: () => lazyResult(immediate, { ref, key, position, form, fn }), labels: NO_RESULT_LABELS };
}

async function readValue(
  { store, root }: CacheSources,
  key: CallKey,
  answer: StoredResult,
  fn: string,
): Promise<ReadableResult | undefined> {
  const exceeding = await readExceeding(store, key, answer);
  if (exceeding) return { value: () => fail(new OutputExceedsText(exceeding)), labels: NO_RESULT_LABELS };
  const { immediate } = store;
  const { ref, position, form } = answer;
  const place = { ref, key, position, form, fn };
  const read = await readResult(store, key, answer);
  if (!read) return undefined;
  const carried = recordedResultLabels(read.event);
  const { result } = read;
  // A word of control is looked at at once.
  if (immediate && answer.sizeBytes > HELD_BYTES_MAX && form !== 'word' && fitsInMemory(result.notes)) {
    const note = { ...NO_METADATA, ...(result.notes[0] && metadataFrom(result.notes[0], root)) };
    return { value: () => lazyResult(immediate, place, note), labels: carried };
  }
  const value = decodeResult(result, root);
  return { value: () => value, labels: carried };
}

function fail(error: Error): never {
  throw error;
}

interface Candidate {
  readonly key: CallKey;
  readonly hit: OverlayHit;
}

function sourceEvent({ hit: known }: Candidate): EventRef {
  const { ref, seq } = known.entry.result;
  return { run: ref.run, seq };
}

function cacheHit(store: JournalStore, found: Candidate, { value, labels: carried }: ReadableResult): CachedResult {
  const { key, hit: known } = found;
  const { result: answer, fingerprint } = known.entry;
  const isEdited = known.edit.definition || known.edit.interceptors;
  const from = sourceEvent(found);
  return {
    key,
    resultLabels: carried,
    from: known.forkSource === undefined ? from : { ...from, workflow: known.forkSource },
    ...(fingerprint !== undefined && isEdited ? { editedSince: fingerprint } : {}),
    outputs: () => readOutputs(store, answer),
    value,
  };
}

/** Of what is known under the two names of a question: what is lent first, else the latest. */
function preferred(first: Candidate | undefined, second: Candidate | undefined): Candidate | undefined {
  if (!first) return second;
  if (!second || first.hit.forkSource !== undefined) return first;
  if (second.hit.forkSource !== undefined) return second;
  const [one, other] = [first.hit.entry.result, second.hit.entry.result];
  const isLater = other.ref.run === one.ref.run ? other.seq > one.seq : other.ref.run > one.ref.run;
  return isLater ? second : first;
}

/** Results of one function that were reused although it was edited, or other guards or hooks hold. */
export interface StaleHit {
  count: number;
  /** The definitions that they were made with, and what each is now. */
  readonly editions: Map<Fingerprint, Fingerprint>;
}

export interface RunCache extends ResultCache {
  /** By function. */
  readonly staleHits: ReadonlyMap<string, StaleHit>;
  /** Answers that no later run will have, because there is no key to keep them with. */
  unkeptCount(): number;
}

export function createRunCache(sources: CacheSources): RunCache {
  const { store, ref, overlay, flags, header, nowMs } = sources;
  const old = new Map<string, StaleHit>();
  const held = new Map<CallKey, HeldResult & Pick<CachedResult, 'from'>>();
  let { secrets } = sources;
  const keys = async (): Promise<Secrets> => {
    secrets ??= await store.secrets().catch((error: unknown) => {
      sources.onTrouble(error as Error);
      return digestingSecrets(randomKey(KEY_BYTES)); // nothing will be found by it later, and nothing given away
    });
    return secrets;
  };
  const notStored = (error: unknown, isPaid: boolean): Payload => {
    if (isPaid || isTooDeep(error)) sources.onTrouble(error as Error);
    else sources.onGap(error as Error);
    return { redacted: isTooDeep(error) ? 'it is nested too deeply' : 'it could not be stored' };
  };
  const tellDeclined = async (declined: readonly OverlayHit[], then: string): Promise<void> => {
    for (const { entry } of declined) {
      if (entry.result.sealed) await sources.onOtherKey(entry);
      else sources.onUnreadable(entry.fn, then);
    }
  };
  let policy: CachePolicy;
  let allowed: ReturnType<ResultCache['policy']>;
  const enter = (scope: Scope | undefined): void => {
    policy = cachePolicy({ flags, header, scope });
    allowed = { records: policy.records, serves: policy.reuses !== 'no' };
  };
  enter(undefined);
  const candidate = (key: CallKey, { definition: { fingerprint, parts } }: CacheQuery): Candidate | undefined => {
    const known = overlay.lookup({ key, fingerprint, parts }, policy, nowMs());
    return known && { key, hit: known };
  };
  const next = (question: CacheQuery): Candidate | undefined => {
    const plain = candidate(question.key, question);
    return secrets === undefined ? plain : preferred(plain, candidate(secrets.callKey(question.key), question));
  };

  /** Until one can be read; `first` and what was read of it, `read`, are the first to be tried. */
  async function search(
    question: CacheQuery,
    first: Candidate | undefined,
    read: Awaitable<ReadableResult | undefined>,
  ): Promise<CachedResult | undefined> {
    const declined: OverlayHit[] = [];
    let found = first;
    for (let reading = read; found; reading = found && readableResult(sources, found.key, found.hit.entry)) {
      const value = await reading;
      if (value) {
        await tellDeclined(declined, 'another recorded answer is served');
        return cacheHit(store, found, value);
      }
      overlay.decline(sourceEvent(found));
      declined.push(found.hit);
      found = next(question);
    }
    const kept = held.get(question.key);
    if (kept) return { ...kept, outputs: async () => kept.outputs, value: () => decodeResult(kept.encoded, sources.root) };
    if (declined.length === 0 && question.hasSecret) await sources.onOtherKey(question);
    await tellDeclined(declined, 'it is asked again');
    return undefined;
  }

  return {
    staleHits: old,
    inFlight: new InFlightCalls(),
    recordedDefinitions: new Set<Fingerprint>(),
    files: sources.files,
    policy: () => allowed,
    lookup(question) {
      if (!allowed.serves) return undefined;
      const found = next(question);
      const read = found && readableResult(sources, found.key, found.hit.entry);
      if (found && read && !(read instanceof Promise)) return cacheHit(store, found, read);
      return found || question.hasSecret || held.size > 0 ? search(question, found, read) : undefined;
    },
    decline: (known) => overlay.decline(known.from),
    recall({ position }, { json, form, notes }, { key, fn }, fresh) {
      if (!store.immediate || jsonSize(json) <= HELD_BYTES_MAX || !fitsInMemory(notes)) return fresh;
      const { text: _, ...note } = metadataOf(fresh) ?? NO_METADATA;
      return lazyResult(store.immediate, { ref, key, position, form, fn }, note);
    },
    payload(value: Json, isPaid = false) {
      try {
        const payload = (isPaid ? sources.retrying : store).payload(value);
        return payload instanceof Promise ? payload.catch((error: unknown) => notStored(error, isPaid)) : payload;
      } catch (error) {
        return notStored(error, isPaid);
      }
    },
    preview: (args) => previewOf({ inline: args as Json }),
    secretPayload: (value: Json, about, isPaid = false) =>
      (isPaid ? sources.retrying : store).secretPayload(value, about).catch((error: unknown) => notStored(error, isPaid)),
    secretKey: async (key) => (await keys()).callKey(key),
    digest: async (text) => (await keys()).digest(text),
    hold(key, { seq }, answer) {
      held.set(key, { ...answer, from: { run: ref.run, seq } });
    },
    unkeptCount: () => held.size,
    newBlob: () => store.newBlob(),
    async keepText(text): Promise<BlobId | undefined> {
      try {
        return (await store.putBlob(text)).blob;
      } catch (error) {
        sources.onGap(error as Error);
        return undefined;
      }
    },
    enterScope({ name, resume, ttlMs, hasComplete }) {
      enter({ name, resume, ttlMs, complete: hasComplete });
    },
    warnStaleHit(fn, recorded, now) {
      const served = old.get(fn) ?? { count: 0, editions: new Map<Fingerprint, Fingerprint>() };
      served.count++;
      served.editions.set(recorded, now);
      old.set(fn, served);
    },
  };
}
