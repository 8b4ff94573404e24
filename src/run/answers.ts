/** The port to what is paid for: the folds decide, this reads and encodes. */
import type { Json, Payload } from '../../journal/event.js';
import type { BlobId, CallKey, Fingerprint, RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { readAnswer, readOutputs } from '../../replay/load.js';
import type { Answers as Overlay } from '../../replay/overlay.js';
import { cachePolicy, type CachePolicy, type PolicyFlags, type ResumeMode, type Scope } from '../../replay/policy.js';
import { jsonSize } from '../../journal/canonical.js';
import type { Answered } from '../../replay/memo.js';
import { decodeResult } from '../operation/encode.js';
import type { Answers } from '../operation/operation.js';
import type { OutputFiles } from '../operation/outputs.js';
import { Turns } from '../operation/turns.js';
import { NO_LABELS, noteOf, type Value } from '../values/value.js';
import { NO_OUTPUT_FILES } from './output-files.js';
import { HELD_BYTES_MAX, recalled } from './recalled.js';

const NOTHING_KNOWN: Answers = {
  policy: () => ({ records: false, serves: false }),
  inFlight: new Turns(),
  defined: new Set(),
  files: NO_OUTPUT_FILES,
  lookup: async () => undefined,
  recall: (_recorded, _encoded, _fn, fresh) => fresh,
  payload: async (value) => ({ inline: value }),
  keepText: async () => undefined,
  enterScope: () => {},
  servedOld: () => {},
};

/** For runs that record nothing. */
export function noAnswers(): Answers {
  return { ...NOTHING_KNOWN, inFlight: new Turns(), defined: new Set() };
}

export interface AnswerSources {
  readonly store: JournalStore;
  readonly ref: RunRef;
  readonly overlay: Overlay;
  readonly flags: PolicyFlags;
  readonly header: ResumeMode | undefined;
  readonly nowMs: () => number;
  readonly files: OutputFiles;
  readonly onTrouble: (error: Error) => void;
  /** A stored result can't be read any more; it is asked for again. */
  readonly onLost: (fn: string) => void;
}

/** How the value is had when it is wanted; undefined when the journal doesn't hold it any more as it was written. */
async function valueOf(store: JournalStore, key: CallKey, { answer, fn }: Answered): Promise<(() => Value) | undefined> {
  const { immediate } = store;
  const { ref, position, form } = answer;
  const isInline = answer.sizeBytes === position.bytes;
  if (immediate && isInline && position.bytes > HELD_BYTES_MAX) {
    return immediate.holds(ref, position, key) ? () => recalled(immediate, { ref, position, form, fn }) : undefined;
  }
  const read = await readAnswer(store, key, answer);
  if (!read) return undefined;
  if (immediate && answer.sizeBytes > HELD_BYTES_MAX) return () => recalled(immediate, { ref, position, form, fn });
  const value = decodeResult({ json: read.value, form: read.form });
  return () => value;
}

/** Results of one function that were served although it was edited. */
export interface ServedOld {
  count: number;
  /** The definitions that they were made with, and what each is now. */
  readonly editions: Map<Fingerprint, Fingerprint>;
}

export interface RunAnswers extends Answers {
  /** By function. */
  readonly old: ReadonlyMap<string, ServedOld>;
}

export function createRunAnswers(sources: AnswerSources): RunAnswers {
  const { store, ref, overlay, flags, header, nowMs } = sources;
  const old = new Map<string, ServedOld>();
  let scope: Scope | undefined;
  let policy: CachePolicy = cachePolicy({ flags, header, scope });
  return {
    old,
    inFlight: new Turns(),
    defined: new Set<Fingerprint>(),
    files: sources.files,
    policy: () => ({ records: policy.records, serves: policy.serves !== 'no' }),
    async lookup(question) {
      const known = overlay.lookup(question, policy, nowMs());
      if (!known) return undefined;
      const { answer, fn, fingerprint } = known.entry;
      const value = await valueOf(store, question.key, known.entry);
      if (!value) {
        sources.onLost(fn);
        return undefined;
      }
      const lender = known.lentBy === undefined ? {} : { workflow: known.lentBy };
      return {
        from: { run: answer.ref.run, seq: answer.seq, ...lender },
        outputs: () => readOutputs(store, answer),
        ...(fingerprint === undefined ? {} : { fingerprint }),
        value,
      };
    },
    recall({ position }, { json, form }, fn, fresh) {
      if (!store.immediate || jsonSize(json) <= HELD_BYTES_MAX) return fresh;
      const { text: _, ...note } = noteOf(fresh) ?? { labels: NO_LABELS, sources: NO_LABELS };
      return recalled(store.immediate, { ref, position, form, fn }, note);
    },
    async payload(value: Json): Promise<Payload> {
      try {
        return await store.payload(value);
      } catch (error) {
        sources.onTrouble(error as Error);
        return { redacted: 'it could not be stored' };
      }
    },
    async keepText(text): Promise<BlobId | undefined> {
      try {
        return (await store.putBlob(text)).blob;
      } catch (error) {
        sources.onTrouble(error as Error);
        return undefined;
      }
    },
    enterScope({ name, resume, ttlMs, hasComplete }) {
      scope = { name, resume, ttlMs, complete: hasComplete };
      policy = cachePolicy({ flags, header, scope });
    },
    servedOld(fn, recorded, now) {
      const served = old.get(fn) ?? { count: 0, editions: new Map<Fingerprint, Fingerprint>() };
      served.count++;
      served.editions.set(recorded, now);
      old.set(fn, served);
    },
  };
}
