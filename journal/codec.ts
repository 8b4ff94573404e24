/**
 * Turns an event into a line of JSON. With `lines/line-buffer.ts`, which reads lines, the only place that knows the format.
 *
 * CODEC-1 A line is `{"v":…,"seq":…,"type":…,["key":…,]["op":…,]…,"ts":…,"hash":"…"}`: a scan can judge it by its first bytes.
 * CODEC-2 `hash` is the hex sha256 of the predecessor's hash followed by the line's text without `,"hash":"…"`; the first line's
 *    predecessor is `CHAIN_SEED`.
 * CODEC-3 A line from which something was removed keeps its `hash`, so that its successor still follows. `,"tombstone":"…"` before the
 *    hash is the hex sha256 of the predecessor's hash, the text of the line without these two, and the hash: no other line may have a
 *    hash that isn't its own.
 * CODEC-4 A line that names a blob that may be in a pack is of version 2, all others of version 1.
 * CODEC-5 Members and types that this version doesn't know survive decoding and encoding unchanged and in order.
 */
import { JournalError } from './errors.js';
import { JOURNAL_VERSION, PACKED_VERSION, type Fact, type FactOf, type FactType, type JournalEvent, type Payload } from './event.js';
import type { Seq } from './ids.js';
import { jsonText } from './lines/json-text.js';
import { writeLatin1, writeUtf8 } from './lines/write-text.js';
import type { OwnFact } from './own-fact.js';
import { mayBePacked } from './payloads.js';
import { sha256Hex } from './sha256.js';
import { upcast, type AnyEvent } from './upcast.js';

export const CHAIN_SEED = '0'.repeat(64);
/** Bytes. A longer line is refused when written and counts as damage when read. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;
/** The length of a line's end, which must precede the next line in memory to verify it: 64 digits, `"}` and the newline. */
export const PREDECESSOR_BYTES = 67;
/** Judges a line, without its newline, by its first bytes (CODEC-1). */
export const isEndOfRun = (line: string): boolean => /^\{"v":\d{1,9},"seq":\d{1,16},"type":"run\.finished"[,}]/.test(line);

/** Replaces the end of the preceding line before the first one, or where a scan continues behind a line with this hash. */
export const predecessorEnd = (hashOfLine: string): string => `${hashOfLine}"}\n`;

export const HASH_DIGITS = 64;
/** From the last digit of a hash to the next line. */
export const HASH_TO_LINE = PREDECESSOR_BYTES - HASH_DIGITS;
/** `,"hash":"…"}` */
export const TAIL_BYTES = 75;
/** The bytes of a line that are not its body, with the newline. */
export const TAIL_AND_NEWLINE_BYTES = TAIL_BYTES + 1;
const LINE_END = Buffer.from('"}\n');
/** These follow `v` and `seq`, in this order (CODEC-1). */
const FIRST_MEMBERS = ['type', 'key', 'op'];
type WithoutPayload<T extends FactType> = Extract<FactOf<T>[keyof FactOf<T>], Payload> extends never ? T : never;
type WithoutPayloadAndKey = { [T in FactType]: 'key' extends keyof FactOf<T> ? never : WithoutPayload<T> }[FactType];
/** Most facts are of these types, which name no blob and have no key: how their JSON begins where no member must be moved. */
const BEGINNINGS: ReadonlyMap<string, string> = new Map<WithoutPayloadAndKey, string>([
  ['op.started', '{"type":"op.started","op":'],
  ['op.finished', '{"type":"op.finished","op":'],
]);
/** UTF-8 needs at most this many bytes for a UTF-16 unit: a line has these for each unit of its body, and `TAIL_AND_NEWLINE_BYTES`. */
export const BYTES_PER_UNIT_MAX = 3;

export interface Line {
  /** Ends with a newline. */
  readonly text: string;
  readonly hash: string;
}

/**
 * The part of a line before its hash, without a closing brace: `head`, what stands between the braces of `json`, or its quotes, and `tail`.
 * V8 copies a long text when it is cut, and again when it is put together with others, so `encodeInto` lays these over each other in
 * memory.
 */
export interface LongBody {
  /** Begins with the brace of the line, and ends in ASCII. */
  readonly head: string;
  readonly json: string;
  readonly tail: string;
}

/** The braces of its JSON, or the quotes, are not in a long body. */
const BRACES = 2;
const NO_TEXT = { inline: '' };
const TO_TEXT = '"result":{"inline":"';
/** UTF-16 units of JSON from which on a body is a long one. Strings are quicker for a short one. */
const LONG_UNITS_MIN = 1024;

/** Throws `JournalError` `NOT_JSON` when the fact holds a bigint or contains itself. */
export function encode(fact: Fact | OwnFact | JournalEvent, seq: Seq, ts: string, previousHash: string): Line {
  const body = bodyOf(fact, seq, ts);
  return lineOf(typeof body === 'string' ? body : `${body.head}${body.json.slice(1, -1)}${body.tail}`, previousHash);
}

export function lineOf(body: string, previousHash: string): Line {
  const digest = sha256Hex(`${previousHash}${body}}`);
  return { text: `${body},"hash":"${digest}"}\n`, hash: digest };
}

/** Returns the part of a line before its hash, without a closing brace. Throws like `encode`. */
export function bodyOf(fact: Fact | OwnFact | JournalEvent, seq: Seq, ts: string): string | LongBody {
  if ('seq' in fact) return bodyOfCopy(fact, seq, ts);
  const beginning = BEGINNINGS.get(fact.type);
  if (beginning !== undefined) {
    const json = jsonOf(fact);
    if (json.startsWith(beginning)) return bodyIn(json, JOURNAL_VERSION, seq, ts);
  }
  if (!isInOrder(fact)) return bodyOfCopy(fact, seq, ts);
  const text = longResultOf(fact);
  return text === undefined ? bodyIn(jsonOf(fact), versionOf(fact), seq, ts) : bodyAround(text, fact, seq, ts);
}

function bodyIn(json: string, version: number, seq: Seq, ts: string): string | LongBody {
  if (json.length < LONG_UNITS_MIN) return `{"v":${version},"seq":${seq},${json.slice(1, -1)},"ts":"${ts}"`;
  return { head: `{"v":${version},"seq":${seq},`, json, tail: `,"ts":"${ts}"` };
}

/** Returns the text that a call has returned, if it is long and nothing before it in the line has members. */
function longResultOf(fact: { readonly [member: string]: unknown }): string | undefined {
  if (fact['type'] !== 'call.completed') return undefined;
  for (const member in fact) {
    const value = fact[member];
    if (typeof value !== 'object' || value === null) continue;
    if (member !== 'result') return undefined;
    const { inline } = value as { readonly inline?: unknown };
    if (typeof inline !== 'string' || inline.length < LONG_UNITS_MIN) return undefined;
    return Object.keys(value).length === 1 ? inline : undefined; // CODEC-5
  }
  return undefined;
}

/** The quotes of the text take the places of the braces. */
function bodyAround(text: string, fact: Fact | OwnFact, seq: Seq, ts: string): LongBody {
  const json = jsonOf({ ...fact, result: NO_TEXT });
  const at = json.indexOf(TO_TEXT) + TO_TEXT.length;
  return {
    head: `{"v":${versionOf(fact)},"seq":${seq},${json.slice(1, at)}`,
    json: jsonText(text),
    tail: `${json.slice(at, -1)},"ts":"${ts}"`,
  };
}

function bodyOfCopy(fact: Fact | OwnFact | JournalEvent, seq: Seq, ts: string): string | LongBody {
  const json = copiedText(fact, seq, ts);
  return json.length < LONG_UNITS_MIN ? json.slice(0, -1) : { head: '{', json, tail: '' };
}

/** True for most facts: no member must be moved (CODEC-1). Each event comes through here, and only its first members are looked at. */
function isInOrder(fact: { readonly [member: string]: unknown }): boolean {
  let place = 0;
  for (const member in fact) {
    while (FIRST_MEMBERS[place] !== member) {
      if ((FIRST_MEMBERS[place] as string) in fact) return false;
      place++;
      if (place === FIRST_MEMBERS.length) return true;
    }
    place++;
    if (place === FIRST_MEMBERS.length) return true;
  }
  return true;
}

/**
 * Returns the version of the line (CODEC-4). Looks at the members: to search the text for the name of a blob takes as long as all the
 * rest, where a result is in it.
 */
function versionOf(fact: { readonly [member: string]: unknown }): number {
  for (const member in fact) {
    const value = fact[member];
    if (typeof value === 'object' && mayBePacked(value)) return PACKED_VERSION;
  }
  return JOURNAL_VERSION;
}

/** The most bytes that the line of a long body takes. */
export function bytesMaxOf({ head, json, tail }: LongBody): number {
  return (head.length + json.length + tail.length) * BYTES_PER_UNIT_MAX + TAIL_AND_NEWLINE_BYTES;
}

/** The bytes that the line of a long body takes: to count them takes as long as to write them. */
export function bytesOf({ head, json, tail }: LongBody): number {
  return Buffer.byteLength(head) + Buffer.byteLength(json) - BRACES + Buffer.byteLength(tail) + TAIL_AND_NEWLINE_BYTES;
}

/**
 * Writes the line of a long body into `bytes` at `start`, where its most bytes (`bytesMaxOf`) must fit, directly behind the end of its
 * predecessor (`PREDECESSOR_BYTES`).
 */
export function encodeInto(bytes: Buffer, start: number, { head, json, tail }: LongBody): { readonly end: number; readonly hash: string } {
  // The last character of the head takes the place of the first brace, and the tail that of the last one.
  const from = start + writeUtf8(bytes, head, start) - 1;
  const last = bytes[from] as number;
  const to = from + writeUtf8(bytes, json, from) - 1;
  bytes[from] = last;
  const end = to + writeUtf8(bytes, `${tail}}`, to);
  // The text is hashed in place: meanwhile the predecessor's hash is directly before the line.
  bytes.copyWithin(start - HASH_DIGITS, start - PREDECESSOR_BYTES, start - HASH_TO_LINE);
  const digest = sha256Hex(viewOf(bytes, start - HASH_DIGITS, end));
  bytes.copyWithin(start - PREDECESSOR_BYTES, start - HASH_DIGITS, start);
  bytes.set(LINE_END, start - HASH_TO_LINE);
  return { end: end - 1 + writeLatin1(bytes, `,"hash":"${digest}"}\n`, end - 1), hash: digest };
}

/** Does what `subarray` does, for a third of its price. */
export function viewOf(bytes: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
}

/** Returns the line that replaces the line of an event whose members were changed (CODEC-3). `event.hash` is kept. */
export function encodeTombstone(event: JournalEvent, previousHash: string): Line {
  const { tombstone: _earlier, ...changed } = event;
  const text = copiedText(changed as JournalEvent, event.seq, event.ts);
  const mark = sha256Hex(previousHash + text + event.hash);
  return { text: `${text.slice(0, -1)},"tombstone":"${mark}","hash":"${event.hash}"}\n`, hash: event.hash };
}

/** Encodes an event that was decoded before, or a fact whose members are in another order. */
function copiedText(fact: Fact | OwnFact | JournalEvent, seq: Seq, ts: string): string {
  const known: { readonly [member: string]: unknown } = fact;
  const v = versionOf(known);
  // A member keeps the place where it was set first (CODEC-1).
  const members: { [member: string]: unknown } = { v, seq, type: known['type'], key: known['key'], op: known['op'], ...known };
  members['v'] = v;
  members['seq'] = seq;
  members['ts'] = ts;
  members['hash'] = undefined;
  return jsonOf(members);
}

function jsonOf(members: object): string {
  try {
    return JSON.stringify(members);
  } catch (error) {
    throw new JournalError('NOT_JSON', `an event can't be written as JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Decodes a line that this process encoded itself, so it needs no verification. */
export function decodeOwn(line: Line): JournalEvent {
  return upcast(JSON.parse(line.text) as AnyEvent);
}
