/**
 * Cuts bytes into chunks at places that their own content decides (a gear hash), so that bytes that two texts share are cut alike, wherever
 * they are in either.
 *
 * CUT-1 A chunk ends behind a byte because of the 32 bytes up to it, unless it would be too short or too long. So two texts that agree
 *    are soon cut alike, wherever their first chunks began.
 */

/** A shorter chunk is found only at the end of the bytes. */
export const CHUNK_BYTES_MIN = 1024;
/** A chunk ends here, whatever its content. */
export const CHUNK_BYTES_MAX = 16 * 1024;
/** Twelve bits: a chunk has some 5 KB. The high ones, because each of them depends on many bytes. */
const CUT_MASK = 0xfff00000;

/** Seven bits: 128 bytes have one place where an anchor can be. */
const ANCHOR_MASK = 0xfe000000;
/** The hash depends on so many bytes. */
const HASHED_BYTES = 32;

const GEAR = gearTable();

/** Returns the end of the chunk that begins at `start`. */
export function nextCut(bytes: Uint8Array, start: number): number {
  const end = Math.min(bytes.length, start + CHUNK_BYTES_MAX);
  let hash = 0;
  for (let at = Math.min(end, start + CHUNK_BYTES_MIN - HASHED_BYTES); at < end; at++) {
    hash = ((hash << 1) + (GEAR[bytes[at] as number] as number)) | 0;
    if ((hash & CUT_MASK) === 0 && at + 1 >= start + CHUNK_BYTES_MIN) return at + 1;
  }
  return end;
}

/**
 * Finds places that the 64 bytes before them decide: those of a short text, wherever it stands in a longer one. They are 32 bytes apart or
 * more, and a run of one byte has none, whatever byte that is.
 */
export function* anchorsIn(bytes: Uint8Array, start: number, end: number): Generator<number> {
  const from = Math.max(0, start - 2 * HASHED_BYTES);
  let hash = 0;
  let last = from + HASHED_BYTES - 1; // whether the places before were some is not known
  for (let at = from; at < end; at++) {
    hash = ((hash << 1) + (GEAR[bytes[at] as number] as number)) | 0;
    if ((hash & ANCHOR_MASK) !== 0) continue;
    if (at >= start && at - last >= HASHED_BYTES) yield at + 1;
    last = Math.max(last, at);
  }
}

/** Returns 256 numbers without pattern, the same ones in every process: cut points are compared across processes. */
function gearTable(): Int32Array {
  let state = 0x9e3779b9;
  return Int32Array.from({ length: 256 }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state;
  });
}
