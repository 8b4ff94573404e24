/** The place of a result in the journal, and what is known of it without reading it. */
import { addKnownUsd } from '../../journal/facts/add-usd.js';
import type { EventOf, JournalEvent, Payload, ResultForm } from '../../journal/event.js';
import type { EventRef, RunRef, Seq } from '../../journal/ids.js';
import type { Position } from '../../journal/store.js';
import { costOfJudged } from '../fold/calls/ended-call.js';
import type { Place } from '../fold/projection.js';

/** An event that holds a result. */
export type ResultEvent = EventOf<'call.completed' | 'result.received'>;

export function holdsResult(event: JournalEvent | undefined): event is ResultEvent {
  return event?.type === 'call.completed' || event?.type === 'result.received';
}

/** The place of the event that holds a result. */
export interface StoredResult {
  readonly ref: RunRef;
  readonly seq: Seq;
  readonly position: Position;
  readonly form: ResultForm | undefined;
  /** It takes a key to read it. */
  readonly sealed: boolean;
  /** The event holds more about it: labels or source markers that its arguments and function lack, that it was in a reply, or files. */
  readonly carries: boolean;
  /** Its call wrote files that its arguments name. */
  readonly hasFiles: boolean;
  /** The event says what the call used, or names its session. */
  readonly hasUsage: boolean;
  /** Its body went on without calls inside that failed. */
  readonly isIncomplete: boolean;
  readonly endedMs: number;
  readonly elapsedMs: number;
  /** Bytes that the result takes: its blob, or its line in the journal. */
  readonly sizeBytes: number;
  /** The cost of all attempts of its call, in US dollars; undefined where it is not known. */
  readonly costUsd: number | undefined;
  /** The cost of the calls inside its call, in US dollars; undefined where none is known. Estimates count these by themselves. */
  readonly insideUsd: number | undefined;
}

/** Returns what it saves to reuse a result, in US dollars; undefined where nothing is known. */
export function savedBy({ costUsd, insideUsd }: Pick<StoredResult, 'costUsd' | 'insideUsd'>): number | undefined {
  return addKnownUsd(costUsd, insideUsd);
}

/** `failedUsd` is what the earlier attempts of the call had cost; `waited` the result of it that guards have judged. */
export function storedResult(event: ResultEvent, place: Place, failedUsd: number | undefined, waited?: StoredResult): StoredResult {
  const { result, notes } = event;
  const wasJudged = waited !== undefined && isFree(event);
  return {
    ref: place.ref,
    seq: event.seq,
    position: place.position,
    form: event.form,
    sealed: isSealed(result) || (notes !== undefined && isSealed(notes)),
    carries:
      notes !== undefined ||
      event.labels !== undefined ||
      event.sources !== undefined ||
      event.removed !== undefined ||
      event.reply?.inner === true ||
      event.files !== undefined ||
      event.unresolvedInside !== undefined,
    hasFiles: event.files !== undefined,
    hasUsage: event.usage !== undefined || event.callUsage !== undefined || event.session !== undefined,
    isIncomplete: event.unresolvedInside !== undefined,
    endedMs: wasJudged ? waited.endedMs : Date.parse(event.ts),
    elapsedMs: event.elapsedMs,
    sizeBytes: 'blob' in result ? result.bytes : place.position.bytes,
    costUsd: isFree(event) ? costOfJudged(event) : addKnownUsd(event.usage?.costUsd, failedUsd),
    insideUsd: event.insideUsd,
  };
}

/** The last attempt had no usage: its body was not executed, or did nothing but make calls. */
function isFree({ usage, onlyCalls }: ResultEvent): boolean {
  return usage === undefined && onlyCalls === true;
}

function isSealed(payload: Payload): boolean {
  return 'sealed' in payload || ('blob' in payload && payload.keyId !== undefined);
}

/** MEMO-7: returns whether a result was recorded later by a run that was in flight at the invalidation. */
export function cameLater({ ref, seq }: Pick<StoredResult, 'ref' | 'seq'>, during: readonly EventRef[] | undefined): boolean {
  const end = during?.find(({ run }) => run === ref.run);
  return end !== undefined && seq > end.seq;
}
