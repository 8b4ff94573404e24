/**
 * The only place that knows an event is a line of JSON.
 *
 * C1 A line is `{"v":…,"seq":…,"type":…,["key":…,]["op":…,]…,"ts":…,"hash":"…"}`: a scan can judge it by its first bytes.
 * C2 `hash` is the hex sha256 of the predecessor's hash followed by the line's text without `,"hash":"…"`; the first line's
 *    predecessor is `CHAIN_SEED`.
 * C3 A line from which something was taken out keeps its `hash`, so that its successor still follows. `,"tombstone":"…"` before the hash
 *    is the hex sha256 of the predecessor's hash, the text of the line without these two, and the hash: no other line may have a hash
 *    that isn't its own.
 * C4 Members and types that this version doesn't know survive `decode` and `encode` unchanged and in order.
 */
import { JournalError } from './errors.js';
import { JOURNAL_VERSION, type Fact, type JournalEvent } from './event.js';
import type { Seq } from './ids.js';
import { sha256Hex } from './sha256.js';
import { isKnownVersion, upcast, type AnyEvent } from './upcast.js';

export const CHAIN_SEED = '0'.repeat(64);
/** Bytes. A longer line is refused when written and counts as damage when read. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;
/** The end of a line that `decode` needs to see before the next one: 64 digits, `"}` and the newline. */
export const PREDECESSOR_BYTES = 67;
/** Stands in for a predecessor's end before the first line, or where a scan goes on behind a line of this hash. */
export const predecessorEnd = (hashOfLine: string): string => `${hashOfLine}"}\n`;

const HASH_DIGITS = 64;
/** From the last digit of a hash to the next line. */
const HASH_TO_LINE = PREDECESSOR_BYTES - HASH_DIGITS;
/** `,"hash":"…"}` */
const TAIL_BYTES = 75;
/** `,"tombstone":"…"` */
const TOMBSTONE_BYTES = 79;
const CURLY_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const COMMA = 0x2c;
export const NEWLINE = 0x0a;
const LINE_END = Buffer.from('"}\n');
/** Behind `v` and `seq` (C1). */
const FIRST_MEMBERS = ['type', 'key', 'op'];
/** UTF-8 needs at most this many bytes for a UTF-16 unit. */
const BYTES_PER_UNIT_MAX = 3;
const HEAD = Buffer.from(`{"v":${JOURNAL_VERSION},`);
const ANY_HEAD = /^\{"v":(\d{1,9}),/;

export interface Line {
  /** With its newline. */
  readonly text: string;
  readonly hash: string;
}

/** Throws `JournalError` `NOT_JSON` when the fact holds a bigint or contains itself. */
export function encode(fact: Fact | JournalEvent, seq: Seq, ts: string, previousHash: string): Line {
  return lineOf(bodyOf(fact, seq, ts), previousHash);
}

export function lineOf(body: string, previousHash: string): Line {
  const digest = sha256Hex(`${previousHash}${body}}`);
  return { text: `${body},"hash":"${digest}"}\n`, hash: digest };
}

/** What a line has before its hash, open: no brace. Throws like `encode`. */
export function bodyOf(fact: Fact | JournalEvent, seq: Seq, ts: string): string {
  if ('seq' in fact || !isInOrder(fact)) return copiedText(fact, seq, ts).slice(0, -1);
  return `{"v":${JOURNAL_VERSION},"seq":${seq},${textOf(fact).slice(1, -1)},"ts":"${ts}"`;
}

/** Most facts are made in the order of C1: nothing to move. */
function isInOrder(fact: Fact): boolean {
  let place = 0;
  for (const member in fact) {
    for (let first = FIRST_MEMBERS[place]; first !== member; first = FIRST_MEMBERS[++place]) {
      if (first === undefined) return true;
      if (first in fact) return false;
    }
    place++;
  }
  return true;
}

/** Bytes that the line of a body takes at most. */
export function lineBytesMax(body: string): number {
  return body.length * BYTES_PER_UNIT_MAX + TAIL_BYTES + 1;
}

/**
 * Writes the line that `lineOf` gives to `start`, where `lineBytesMax` fit, directly behind the end of its predecessor
 * (`PREDECESSOR_BYTES`), and says where it ends. Copies a long body less often than `lineOf` does.
 */
export function encodeInto(bytes: Buffer, start: number, body: string): { readonly end: number; readonly hash: string } {
  const end = start + bytes.write(`${body}}`, start);
  // Hashed in place: for as long as that takes, the predecessor's hash stands directly before the line.
  bytes.copyWithin(start - HASH_DIGITS, start - PREDECESSOR_BYTES, start - HASH_TO_LINE);
  const digest = sha256Hex(viewOf(bytes, start - HASH_DIGITS, end));
  bytes.copyWithin(start - PREDECESSOR_BYTES, start - HASH_DIGITS, start);
  bytes.set(LINE_END, start - HASH_TO_LINE);
  return { end: end - 1 + bytes.write(`,"hash":"${digest}"}\n`, end - 1, 'latin1'), hash: digest };
}

/** As `subarray`, for a third of its price. */
function viewOf(bytes: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
}

/** The line of an event whose content was changed, in the place of the one that was there (C3). `event.hash` stays. */
export function encodeTombstone(event: JournalEvent, previousHash: string): Line {
  const { tombstone: _earlier, ...changed } = event;
  const text = copiedText(changed as JournalEvent, event.seq, event.ts);
  const mark = sha256Hex(previousHash + text + event.hash);
  return { text: `${text.slice(0, -1)},"tombstone":"${mark}","hash":"${event.hash}"}\n`, hash: event.hash };
}

/** An event that was decoded before, or a fact in another order. */
function copiedText(fact: Fact | JournalEvent, seq: Seq, ts: string): string {
  const known: { readonly [member: string]: unknown } = fact;
  const v = JOURNAL_VERSION;
  // A member stays where it was set first (C1).
  const members: { [member: string]: unknown } = { v, seq, type: known['type'], key: known['key'], op: known['op'], ...known };
  members['v'] = v;
  members['seq'] = seq;
  members['ts'] = ts;
  members['hash'] = undefined;
  return textOf(members);
}

function textOf(members: object): string {
  try {
    return JSON.stringify(members);
  } catch (error) {
    throw new JournalError('NOT_JSON', `an event that JSON can't hold: ${(error as Error).message}`, { cause: error });
  }
}

/** Why a line can't be used. */
export type Flaw = 'corrupt' | 'unknown-version';

/**
 * The event of the line from `start` to its newline at `end`, when it follows on the hash that stands at the end of the line before
 * it (`PREDECESSOR_BYTES`). Hashes in place, to save a copy of every line: overwrites those bytes and one byte of the line.
 * `parsed`: what `parseLines` made of it.
 */
export function decode(bytes: Buffer, start: number, end: number, parsed?: AnyEvent): JournalEvent | Flaw {
  if (!hasBytes(bytes, start, HEAD)) {
    const version = ANY_HEAD.exec(bytes.toString('latin1', start, Math.min(end, start + 20)))?.[1];
    if (version === undefined) return 'corrupt';
    if (!isKnownVersion(Number(version))) return 'unknown-version';
  }
  const digest = digestOf(bytes, start, end);
  if (digest === undefined) return 'corrupt';
  // Between bad lines that are as many values as lines only together, it may be the value of another one.
  const isOwn = parsed?.['hash'] === digest;
  const event = isOwn ? parsed : (parseOrNothing(bytes.toString('utf8', start, end)) as AnyEvent | undefined);
  if (event === undefined) return 'corrupt';
  return event['hash'] === digest || isTombstone(bytes, start, end) ? upcast(event) : 'corrupt';
}

/**
 * What neighbouring lines hold, the first one from `start` and each to its newline, parsed as one list: the parser is quicker with many
 * objects of a few shapes than with each alone. Undefined when a line is no JSON: then each has to be tried. Leaves the bytes as they are.
 */
export function parseLines(bytes: Buffer, start: number, ends: readonly number[]): readonly AnyEvent[] | undefined {
  const last = ends.at(-1) as number;
  const before = bytes[start - 1] as number;
  for (const end of ends) bytes[end] = COMMA;
  bytes[start - 1] = BRACKET_OPEN; // put around the text, they would cost a copy of it
  bytes[last] = BRACKET_CLOSE;
  const list = parseOrNothing(bytes.toString('utf8', start - 1, last + 1));
  bytes[start - 1] = before; // no newline where the beginning of a line was too long to be kept
  for (const end of ends) bytes[end] = NEWLINE;
  return Array.isArray(list) && list.length === ends.length ? (list as AnyEvent[]) : undefined;
}

/** `digestOf` has put the predecessor's hash directly before the line. */
function isTombstone(bytes: Buffer, start: number, end: number): boolean {
  const bodyEnd = end - TAIL_BYTES - TOMBSTONE_BYTES;
  if (bodyEnd <= start) return false;
  const previous = bytes.toString('latin1', start - HASH_DIGITS, start);
  const body = `${bytes.toString('utf8', start, bodyEnd)}}`;
  const stored = bytes.toString('latin1', end - HASH_DIGITS - 2, end - 2);
  const mark = sha256Hex(previous + body + stored);
  return bytes.toString('latin1', bodyEnd, end) === `,"tombstone":"${mark}","hash":"${stored}"}`;
}

/** Whether a line of this version, as it was written, follows on the one before it, as `decode` checks it, without parsing it. */
export function followsOn(bytes: Buffer, start: number, end: number): boolean {
  if (!hasBytes(bytes, start, HEAD)) return false;
  const digest = digestOf(bytes, start, end);
  return digest !== undefined && bytes.toString('latin1', end - TAIL_BYTES, end) === `,"hash":"${digest}"}`;
}

function digestOf(bytes: Buffer, start: number, end: number): string | undefined {
  const bodyEnd = end - TAIL_BYTES;
  if (bodyEnd <= start) return undefined;
  bytes.copyWithin(start - HASH_DIGITS, start - PREDECESSOR_BYTES, start - HASH_TO_LINE);
  const comma = bytes[bodyEnd] as number;
  bytes[bodyEnd] = CURLY_CLOSE;
  const digest = sha256Hex(viewOf(bytes, start - HASH_DIGITS, bodyEnd + 1));
  bytes[bodyEnd] = comma;
  return digest;
}

/** The event of a line that this process encoded itself. */
export function decodeOwn(line: Line): JournalEvent {
  return upcast(JSON.parse(line.text) as AnyEvent);
}

function hasBytes(bytes: Buffer, at: number, expected: Buffer): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
