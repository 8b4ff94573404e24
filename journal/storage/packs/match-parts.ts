/**
 * Finds what of a blob a pack holds already: chunks are looked up by their fingerprint, compared byte by byte, and the match is made as
 * long as the bytes agree in both directions. A text that has grown at its end is one copy and its new end.
 *
 * MATCH-1 Only bytes that were compared are copied: a wrong fingerprint costs space and damages nothing.
 * MATCH-2 Every chunk that was looked up is in `cuts` of the new record, so that the latest blob that holds it is found next time: its
 *    bytes are the longest match of a conversation.
 * MATCH-3 A short blob is found again wherever it stands in a longer text: probes of its own bytes, at places that its content decides,
 *    are in `cuts`. So the answer of a call is a copy in the history that the next one gets.
 * MATCH-4 The first blob of a pack has nothing to copy from, and in most runs no other one follows. So it is cut into chunks when the
 *    second one is stored, and its record has no cuts. A large one is cut at once: each process that appends to the pack would have to.
 */
import { anchorsIn, CHUNK_BYTES_MAX, nextCut } from './cut-points.js';
import {
  cutsOf,
  fingerprintOf,
  PARTS_MAX,
  SHORT_BYTES_MAX,
  textOfCuts,
  type Cut,
  type Header,
  type PackRecord,
  type Part,
} from './pack-record.js';
import type { Pack } from './pack.js';

export interface Matched extends Pick<Header, 'parts' | 'cuts'> {
  /** The bytes that the pack doesn't hold, in their order. */
  readonly own: readonly Uint8Array[];
}

/** Bytes of a blob that are bytes of a record, too. */
interface Match {
  readonly record: PackRecord;
  /** The place in the record's blob. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

/**
 * So many bytes are looked up where a blob begins and where a copy has ended, in place of a chunk: the next copy often begins there, and
 * the new end of a text may be too short to have a chunk of its own. A shorter chunk isn't looked up, nor is one that was cut by the end of
 * the blob.
 */
const PROBE_BYTES = 256;
/** One probe finds all around it, but for what was changed between two. */
const PROBES_APART = 1024;
/** So many in a row are in some 80 KB: a long text that begins like that has no short one in it. */
const PROBES_IN_VAIN_MAX = 500;
/** Reading a blob follows its chain of copies, so a chain that is as long begins anew. */
const DEPTH_MAX = 4096;
/** MATCH-4 */
const UNCUT_BYTES_MAX = 1024 * 1024;

/** `contentOf` returns the bytes of a record of the pack. */
export function matchParts(content: Buffer, pack: Pack, contentOf: (record: PackRecord) => Buffer | undefined): Matched {
  if (pack.isEmpty && content.length <= UNCUT_BYTES_MAX) return { parts: [content.length], cuts: '', own: [content] };
  pack.index((record) => (record.cuts === '' ? cutsIn(contentOf(record)) : cutsOf(record)));
  const isShort = content.length <= SHORT_BYTES_MAX;
  const parts: Part[] = [];
  const cuts: Cut[] = [];
  const own: Uint8Array[] = [];
  let taken = 0;
  let inVain = 0;
  for (let start = 0; start < content.length;) {
    const end = nextCut(content, start);
    const match = matchOfChunk(start, end) ?? (pack.hasShort ? matchOfShort(start, end) : undefined);
    if (match !== undefined) {
      takeOwn(match.start);
      parts.push([pack.end - match.record.at, match.from, match.end - match.start]);
      taken = match.end;
    }
    start = match?.end ?? end;
  }
  takeOwn(content.length);
  if (parts.length > PARTS_MAX) return { parts: [content.length], cuts: textOfCuts(cuts), own: [content] };
  return { parts, cuts: textOfCuts(cuts), own };

  function takeOwn(end: number): void {
    if (end === taken) return;
    parts.push(end - taken);
    own.push(content.subarray(taken, end));
    if (isShort) cuts.push(...probesIn(content, taken, end));
    taken = end;
  }

  /** MATCH-2 */
  function matchOfChunk(start: number, end: number): Match | undefined {
    if (start !== taken && end === content.length) return undefined;
    const to = start === taken ? start + PROBE_BYTES : end;
    if (to > content.length || to - start < PROBE_BYTES) return undefined;
    const fingerprint = fingerprintOf(content.subarray(start, to));
    cuts.push([fingerprint, start]);
    return matchOf(fingerprint, start, to);
  }

  /** MATCH-3 */
  function matchOfShort(start: number, end: number): Match | undefined {
    if (inVain > PROBES_IN_VAIN_MAX) return undefined;
    for (const [fingerprint, at] of probesIn(content, start, end, 1)) {
      const match = matchOf(fingerprint, at, at + PROBE_BYTES);
      inVain = match === undefined ? inVain + 1 : 0;
      if (match !== undefined) return match;
    }
    return undefined;
  }

  function matchOf(fingerprint: string, start: number, end: number): Match | undefined {
    const found = pack.holding(fingerprint);
    if (found === undefined || found.record.depth >= DEPTH_MAX) return undefined;
    const stored = contentOf(found.record);
    const length = end - start;
    if (stored === undefined || found.from + length > stored.length) return undefined;
    if (content.compare(stored, found.from, found.from + length, start, end) !== 0) return undefined;
    let before = 0;
    const most = Math.min(start - taken, found.from);
    while (before < most && content[start - before - 1] === stored[found.from - before - 1]) before++;
    const behind = commonPrefix(content, end, stored, found.from + length);
    return { record: found.record, from: found.from - before, start: start - before, end: end + behind };
  }
}

/** Returns the cuts that a blob has of which no part is a copy (MATCH-4). */
function cutsIn(content: Buffer = Buffer.alloc(0)): readonly Cut[] {
  const cuts: Cut[] = content.length <= SHORT_BYTES_MAX ? [...probesIn(content, 0, content.length)] : [];
  for (let start = 0; start < content.length;) {
    const end = nextCut(content, start);
    if (start === 0) cuts.push([fingerprintOf(content.subarray(0, PROBE_BYTES)), 0]);
    else if (end < content.length) cuts.push([fingerprintOf(content.subarray(start, end)), start]);
    start = end;
  }
  return cuts;
}

/** Finds probes at places that the content decides. */
function* probesIn(content: Buffer, start: number, end: number, apart = PROBES_APART): Generator<Cut> {
  let next = 0;
  for (const at of anchorsIn(content, start, Math.min(end, content.length - PROBE_BYTES))) {
    if (at < next) continue;
    yield [fingerprintOf(content.subarray(at, at + PROBE_BYTES)), at];
    next = at + apart;
  }
}

/** Returns the number of equal bytes from the two places on. */
function commonPrefix(left: Buffer, leftFrom: number, right: Buffer, rightFrom: number): number {
  const most = Math.min(left.length - leftFrom, right.length - rightFrom);
  let equal = 0;
  for (let step = CHUNK_BYTES_MAX; step >= 1; step = Math.floor(step / 4)) {
    while (equal + step <= most && isEqual(equal, step)) equal += step;
  }
  return equal;

  function isEqual(at: number, length: number): boolean {
    return left.compare(right, rightFrom + at, rightFrom + at + length, leftFrom + at, leftFrom + at + length) === 0;
  }
}
