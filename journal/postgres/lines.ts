/** Reads whole lines of a run as a store of rows takes them: their offsets, numbers and hashes. */
import { CHAIN_SEED, HASH_DIGITS, TAIL_BYTES } from '../codec.js';
import { NEWLINE } from '../lines/line-buffer.js';

/** A turn ends behind the piece that reaches this many bytes or lines. A piece is at most 256 KB, or one line. */
export const TURN_BYTES_MAX = 4 * 1024 * 1024;
export const TURN_LINES_MAX = 5000;
/** A line that nobody awaits waits so long for others: the end of one call goes with the begin of the next. */
export const ORDERED_DELAY_MS = 20;
/** The end of a line: its hash, a quote and a brace. */
const LINE_END = HASH_DIGITS + 2;
/**
 * The key of a call, which begins the line behind its type (CODEC-1), is no blob, nor is the digest of a request or of a definition: most
 * lines name nothing else.
 */
const DIGEST =
  /"(sha256:[0-9a-f]{64})"(?<!"(?:request|fingerprint)":.{73}|^\{"v":\d{1,9},"seq":\d{1,16},"type":"call\.[a-z]{1,20}","key":.{73})/my;
const DIGEST_BEGIN = '"sha256:';

/** The end of what a run has. */
export interface Head {
  readonly offset: number;
  /** The number of the next line. */
  readonly seq: number;
  readonly hash: string;
}

export const NO_LINES: Head = { offset: 0, seq: 0, hash: CHAIN_SEED };

/** Returns what lines name that may be a blob. The expression alone would try each quote of a result. */
export function digestsIn(text: string): ReadonlySet<string> {
  const digests = new Set<string>();
  for (let at = text.indexOf(DIGEST_BEGIN); at >= 0; at = text.indexOf(DIGEST_BEGIN, at + DIGEST_BEGIN.length)) {
    DIGEST.lastIndex = at;
    const digest = DIGEST.exec(text)?.[1];
    if (digest !== undefined) digests.add(digest);
  }
  return digests;
}

/** Adds the offset of each line, and returns how many there are. */
export function startsOf(piece: Uint8Array, offset: number, ats: number[]): number {
  let lines = 0;
  for (let start = 0; start < piece.length; start = piece.indexOf(NEWLINE, start) + 1) {
    ats.push(offset + start);
    lines++;
  }
  return lines;
}

const SEQ_OF_LINE = /^\{"v":\d+,"seq":(\d+)[,}]/;

/** Returns the number of the first of whole lines. */
export function firstSeq(lines: Uint8Array): number {
  const beginning = Buffer.from(lines.buffer, lines.byteOffset, Math.min(lines.length, 64)).toString('latin1');
  return Number(SEQ_OF_LINE.exec(beginning)?.[1]);
}

/** Returns the hash that a line without its newline ends with, even when the line is damaged. */
export const hashOfLine = (line: string): string => line.slice(-LINE_END, -2);

/** Returns the hash of the last of whole lines, which ends with `"hash":"…"}` and its newline. */
export function hashBehind(lines: Uint8Array): string {
  const start = lines.length - TAIL_BYTES - 1 + ',"hash":"'.length;
  return Buffer.from(lines.buffer, lines.byteOffset + start, HASH_DIGITS).toString('latin1');
}
