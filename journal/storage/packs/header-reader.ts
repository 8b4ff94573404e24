/** Finds the headers of a pack's records. */
import { HEADER_BYTES_MAX, ownBytes, parseHeader, RECORD_START, type Header } from './pack-record.js';

/** The bytes of a pack. */
export interface PackBytes {
  readonly size: number;
  /** Fills `into`; false when the pack ends before. */
  read(into: Uint8Array, position: number): boolean;
}

/** Many headers are shorter, with the bytes between them. */
const WINDOW_BYTES = 32 * 1024;
const SEARCH_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface FoundHeader {
  readonly header: Header;
  readonly ownAt: number;
  readonly end: number;
}

/** Reads headers from windows of the pack, because many are near each other. */
export class HeaderReader {
  private window = Buffer.alloc(0);
  private from = 0;

  constructor(private readonly pack: PackBytes) {}

  at(at: number): FoundHeader | 'incomplete' | 'damaged' {
    for (let size = WINDOW_BYTES; ; size *= 4) {
      const line = this.lineAt(at);
      if (line !== undefined) {
        const header = parseHeader(line.toString());
        if (header === undefined) return 'damaged';
        const ownAt = at + line.length + 1;
        return { header, ownAt, end: ownAt + ownBytes(header.parts) + 1 };
      }
      if (size > 4 * HEADER_BYTES_MAX) return 'damaged';
      if (this.from === at && this.window.length === this.pack.size - at) return 'incomplete';
      this.window = Buffer.allocUnsafe(Math.min(size, this.pack.size - at));
      this.from = at;
      if (!this.pack.read(this.window, at)) return 'incomplete';
    }
  }

  /** Returns the line at an offset, without its newline, when the window holds all of it. */
  private lineAt(at: number): Buffer | undefined {
    if (at < this.from || at >= this.from + this.window.length) return undefined;
    const end = this.window.indexOf(NEWLINE, at - this.from);
    return end < 0 ? undefined : this.window.subarray(at - this.from, end);
  }
}

/** Returns the offset of the next header that is whole, at or behind `from`. */
export function nextRecord(pack: PackBytes, from: number): number | undefined {
  const headers = new HeaderReader(pack);
  const overlap = RECORD_START.length;
  for (let at = from - 1; at < pack.size; at += SEARCH_BYTES) {
    const bytes = Buffer.allocUnsafe(Math.min(SEARCH_BYTES + overlap, pack.size - at));
    if (!pack.read(bytes, at)) return undefined;
    for (let found = bytes.indexOf(`\n${RECORD_START}`); found >= 0; found = bytes.indexOf(`\n${RECORD_START}`, found + 1)) {
      if (typeof headers.at(at + found + 1) === 'object') return at + found + 1;
    }
  }
  return undefined;
}
