/**
 * Verifies and parses lines of a run in the memory that they were read into. Belongs to the reader that made it: hashing a line in place
 * overwrites bytes around it, which saves a copy of every line.
 */
import { HASH_DIGITS, HASH_TO_LINE, PREDECESSOR_BYTES, predecessorEnd, TAIL_BYTES, viewOf } from '../codec.js';
import type { JournalEvent } from '../event.js';
import { sha256Hex } from '../sha256.js';
import { isKnownVersion, upcast, type AnyEvent } from '../upcast.js';

/** `,"tombstone":"…"` */
const TOMBSTONE_BYTES = 79;
const CURLY_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const COMMA = 0x2c;
export const NEWLINE = 0x0a;
/** Versions have one digit until there are ten of them. */
const HEAD = Buffer.from('{"v":');
const DIGIT_ZERO = 0x30;
const ANY_HEAD = /^\{"v":(\d{1,9}),/;

/** The reason why a line can't be used. */
export type Flaw = 'corrupt' | 'unknown-version';

/** The first line begins at `PREDECESSOR_BYTES`; before it is the end of the preceding line. */
export class LineBuffer {
  /** To be filled by the reader. */
  readonly bytes: Buffer;

  /** `capacity` is the number of bytes for lines, beside the end of the preceding one. */
  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafe(PREDECESSOR_BYTES + capacity);
  }

  /** Returns a buffer of twice the size that begins with the same bytes. */
  grown(): LineBuffer {
    const larger = new LineBuffer(this.bytes.length * 2 - PREDECESSOR_BYTES);
    this.bytes.copy(larger.bytes);
    return larger;
  }

  /** Declares that the first line follows a line with this hash. */
  follow(hash: string): void {
    this.bytes.write(predecessorEnd(hash), 'latin1');
  }

  /**
   * Returns the event of the line from `start` to its newline at `end`, when it follows on the hash at the end of the line before it.
   * Leaves that hash out of its place: lines are decoded in order, and each once. `parsed` is what `parse` returned for the line.
   */
  decode(start: number, end: number, parsed?: AnyEvent): JournalEvent | Flaw {
    const { bytes } = this;
    if (!hasKnownHead(bytes, start)) {
      const version = ANY_HEAD.exec(bytes.toString('latin1', start, Math.min(end, start + 20)))?.[1];
      if (version === undefined) return 'corrupt';
      if (!isKnownVersion(Number(version))) return 'unknown-version';
    }
    const digest = digestOf(bytes, start, end);
    if (digest === undefined) return 'corrupt';
    // Between bad lines that are as many values as lines only together, it may be the value of another one.
    const isOwn = parsed?.['hash'] === digest;
    const event = isOwn ? parsed : (parseOrNothing(bytes.toString('utf8', start, end)) as AnyEvent | undefined);
    if (event === undefined || !hasOwnMembers(event)) return 'corrupt';
    return event['hash'] === digest || isTombstone(bytes, start, end) ? upcast(event) : 'corrupt';
  }

  /** Verifies an unchanged line of a known version as `decode` does, without parsing it. */
  verifies(start: number, end: number): boolean {
    const { bytes } = this;
    if (!hasKnownHead(bytes, start)) return false;
    const digest = digestOf(bytes, start, end);
    return digest !== undefined && bytes.toString('latin1', end - TAIL_BYTES, end) === `,"hash":"${digest}"}`;
  }

  /**
   * Parses neighbouring lines as one list, the first one from `start` and each to its newline: the parser is quicker with many objects of
   * a few shapes than with each alone. Undefined when a line is not JSON: then each has to be tried. Leaves the bytes unchanged.
   */
  parse(start: number, ends: readonly number[]): readonly AnyEvent[] | undefined {
    const { bytes } = this;
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
}

/** Checks those members that every fold reads: whoever may record can write any line. Of the others, READER-4 takes care. */
function hasOwnMembers(event: AnyEvent): boolean {
  return typeof event['seq'] === 'number' && typeof event['type'] === 'string' && typeof event['ts'] === 'string';
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

function hasKnownHead(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < HEAD.length; i++) if (bytes[at + i] !== HEAD[i]) return false;
  return bytes[at + HEAD.length + 1] === COMMA && isKnownVersion((bytes[at + HEAD.length] as number) - DIGIT_ZERO);
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same bytes with the methods of Node, which the published types do not name. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
