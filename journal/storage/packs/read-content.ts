/** Puts a blob together from the parts of a pack that it consists of. */
import type { PackBytes } from './header-reader.js';
import { lengthOf, type PackRecord, type Part } from './pack-record.js';

/** Returns the record that begins at an offset of the pack. */
export type SourceAt = (at: number) => PackRecord;

/** Bytes of the pack that belong to a blob. */
interface Piece {
  readonly at: number;
  readonly bytes: number;
}

/** A range of a blob that is still to be found in the pack. */
interface Range {
  readonly record: PackRecord;
  readonly from: number;
  readonly to: number;
}

/** Pieces with no more between them are read at once. */
const GAP_BYTES_MAX = 4 * 1024;

/** Returns the bytes of a blob, not verified; undefined when the pack doesn't hold them any more. */
export function readContent(pack: PackBytes, record: PackRecord, sourceAt: SourceAt): Buffer | undefined {
  const groups = neighbours(piecesOf(record, sourceAt));
  // Each group is read to its place with what is between its pieces, which are then moved together: a copy less than with a second buffer.
  const room = groups.reduce((most, { gaps }) => Math.max(most, gaps), 0);
  const content = Buffer.allocUnsafe(record.bytes + room);
  let filled = 0;
  for (const { at, bytes, gaps, pieces } of groups) {
    const span = content.subarray(filled, filled + bytes + gaps);
    if (!pack.read(span, at)) return undefined;
    let kept = 0;
    for (const piece of pieces) {
      if (piece.at - at > kept) span.copyWithin(kept, piece.at - at, piece.at - at + piece.bytes);
      kept += piece.bytes;
    }
    filled += kept;
  }
  return content.subarray(0, filled);
}

/** Finds a record's bytes, in their order, without recursion: conversations make long chains. */
function piecesOf(whole: PackRecord, sourceAt: SourceAt): Piece[] {
  const found: Piece[] = [];
  const open: (Range | Piece)[] = [{ record: whole, from: 0, to: whole.bytes }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ('record' in next) openParts(next, sourceAt, open);
    else found.push(next);
  }
  return found;
}

/** Puts the parts of a range on the stack, the first one last. */
function openParts({ record, from, to }: Range, sourceAt: SourceAt, open: (Range | Piece)[]): void {
  let end = record.bytes;
  let ownAt = record.end - 1; // before the newline
  for (let place = record.parts.length - 1; place >= 0 && end > from; place--) {
    const part = record.parts[place] as Part;
    const start = end - lengthOf(part);
    const first = Math.max(start, from);
    const last = Math.min(end, to);
    if (typeof part === 'number') ownAt -= part;
    if (first < last) {
      if (typeof part === 'number') open.push({ at: ownAt + first - start, bytes: last - first });
      else open.push({ record: sourceAt(record.at - part[0]), from: part[1] + first - start, to: part[1] + last - start });
    }
    end = start;
  }
}

interface Group extends Piece {
  readonly pieces: readonly Piece[];
  /** The bytes between the pieces. */
  readonly gaps: number;
}

/** Groups pieces that are near each other and in order. `bytes` of a group are those of its pieces. */
function neighbours(pieces: readonly Piece[]): Group[] {
  const groups: { at: number; bytes: number; gaps: number; pieces: Piece[] }[] = [];
  for (const piece of pieces) {
    const last = groups.at(-1);
    const gap = last === undefined ? -1 : piece.at - (last.at + last.bytes + last.gaps);
    if (last !== undefined && gap >= 0 && gap <= GAP_BYTES_MAX) {
      last.bytes += piece.bytes;
      last.gaps += gap;
      last.pieces.push(piece);
    } else groups.push({ at: piece.at, bytes: piece.bytes, gaps: 0, pieces: [piece] });
  }
  return groups;
}
