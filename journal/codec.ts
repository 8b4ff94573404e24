/**
 * The only place that knows an event is a line of JSON.
 *
 * C1 A line is `{"v":…,"seq":…,"type":…,["key":…,]["op":…,]…,"ts":…,"hash":"…"}`: a scan can judge it by its first bytes.
 * C2 `hash` is the hex sha256 of the predecessor's hash followed by the line's text without `,"hash":"…"`; the first line's
 *    predecessor is `CHAIN_SEED`.
 * C3 Members and types that this version doesn't know survive `decode` and `encode` unchanged and in order.
 */
import { hash } from 'node:crypto';
import { JOURNAL_VERSION, type Fact, type JournalEvent } from './event.js';
import type { Seq } from './ids.js';
import { JournalError } from './store.js';
import { isKnownVersion, upcast, type AnyEvent } from './upcast.js';

export const CHAIN_SEED = '0'.repeat(64);
/** Bytes. A longer line is refused when written and counts as damage when read. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes that `decode` overwrites before a line, to have the predecessor's hash and the line in one piece. */
export const ROOM_BEFORE_LINE = 64;
/** Where the predecessor's hash begins, counted back from a line: 64 digits, `"}` and the newline. */
export const PREDECESSOR_HASH_BYTES = 67;

const HASH_DIGITS = 64;
const HASH_OPENS = Buffer.from(',"hash":"');
const CURLY_CLOSE = 0x7d;
const QUOTE = 0x22;
const HEAD = Buffer.from(`{"v":${JOURNAL_VERSION},`);
const ANY_HEAD = /^\{"v":(\d{1,9}),/;

export interface Line {
  /** With its newline. */
  readonly text: string;
  readonly hash: string;
}

/** Throws `JournalError` `NOT_JSON` when the fact holds a bigint or contains itself. */
export function encode(fact: Fact | JournalEvent, seq: Seq, ts: string, previousHash: string): Line {
  const known: { readonly [member: string]: unknown } = fact;
  const v = JOURNAL_VERSION;
  // A member stays where it was set first (C1).
  const members: { [member: string]: unknown } = { v, seq, type: known['type'], key: known['key'], op: known['op'], ...known };
  members['v'] = v;
  members['seq'] = seq;
  members['ts'] = ts;
  members['hash'] = undefined; // of an event that was decoded before
  const body = textOf(members);
  const digest = hash('sha256', previousHash + body, 'hex');
  return { text: `${body.slice(0, -1)},"hash":"${digest}"}\n`, hash: digest };
}

function textOf(members: object): string {
  try {
    return JSON.stringify(members);
  } catch (error) {
    throw new JournalError('NOT_JSON', `an event that JSON can't hold: ${(error as Error).message}`, { cause: error });
  }
}

/** The hash that a line claims for itself: readable also when the rest is damaged. `end` is the place of its newline. */
export function storedHash(bytes: Buffer, start: number, end: number): string | undefined {
  const opens = end - 2 - HASH_DIGITS - HASH_OPENS.length;
  if (opens <= start || bytes[end - 1] !== CURLY_CLOSE || bytes[end - 2] !== QUOTE) return undefined;
  for (let i = 0; i < HASH_OPENS.length; i++) if (bytes[opens + i] !== HASH_OPENS[i]) return undefined;
  return bytes.toString('latin1', end - 2 - HASH_DIGITS, end - 2);
}

/** Why a line can't be used. */
export type Flaw = 'corrupt' | 'unknown-version';

/**
 * The event of the line from `start` to its newline at `end`, when it follows on `previousHash`. `ownHash` is its `storedHash`.
 * Overwrites `ROOM_BEFORE_LINE` bytes before the line and one byte in it: hashing in place saves a copy of every line.
 */
export function decode(
  bytes: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
  hashes: { readonly previous: string | undefined; readonly own: string | undefined },
): JournalEvent | Flaw {
  if (!hasCurrentHead(bytes, start, end)) {
    const version = ANY_HEAD.exec(bytes.toString('latin1', start, Math.min(end, start + 20)))?.[1];
    if (version === undefined) return 'corrupt';
    if (!isKnownVersion(Number(version))) return 'unknown-version';
  }
  const { previous, own } = hashes;
  if (previous === undefined || own === undefined) return 'corrupt';
  const bodyEnd = end - 1 - HASH_DIGITS - HASH_OPENS.length;
  bytes.write(previous, start - ROOM_BEFORE_LINE, 'latin1');
  bytes[bodyEnd - 1] = CURLY_CLOSE;
  if (hash('sha256', bytes.subarray(start - ROOM_BEFORE_LINE, bodyEnd), 'hex') !== own) return 'corrupt';
  return parseBody(bytes.toString('utf8', start, bodyEnd), own) ?? 'corrupt';
}

/** The event of a line that this process encoded itself. */
export function decodeOwn(line: Line): JournalEvent {
  const event = parseBody(`${line.text.slice(0, line.text.lastIndexOf(',"hash":"'))}}`, line.hash);
  if (!event) throw new Error('a line that was just encoded is not an event');
  return event;
}

function hasCurrentHead(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < HEAD.length) return false;
  for (let i = 0; i < HEAD.length; i++) if (bytes[start + i] !== HEAD[i]) return false;
  return true;
}

function parseBody(text: string, ownHash: string): JournalEvent | undefined {
  let event: AnyEvent & { hash?: string };
  try {
    event = JSON.parse(text) as AnyEvent;
  } catch {
    return undefined;
  }
  if (typeof event['type'] !== 'string' || !Number.isSafeInteger(event['seq'])) return undefined;
  event.hash = ownHash;
  return upcast(event);
}
