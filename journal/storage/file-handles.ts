/**
 * Files that stay open for a moment after they were read, because results are read one by one from the same few runs and opening
 * a file costs more than reading a line. They are closed after a second or two of rest, and the longest unused when there are too many.
 *
 * Results are mostly wanted in the order in which they were made, so a read takes what follows along. Bytes of a journal never
 * change once they are there, so what was taken along stays right while the file is open.
 */
import type { Disk } from './disk.js';
import { RunBytes } from '../segments.js';

const OPEN_MAX = 8;
const REST_MS = 1000;
/** How much a read takes along. A longer line is read for itself. */
const AHEAD_BYTES = 128 * 1024;

interface OpenFile {
  readonly run: RunBytes;
  /** Bytes `from` to `to` of the file, once something was read ahead. */
  ahead: Buffer | undefined;
  from: number;
  to: number;
  /** Nothing was read before. */
  isNew: boolean;
}

/** Reads until `into` is full; the number of bytes that were there. */
function fill(run: RunBytes, into: Uint8Array, start: number, position: number): number {
  let end = start;
  while (end < into.length) {
    const count = run.read(into, end, into.length - end, position + end - start);
    if (count === 0) break;
    end += count;
  }
  return end - start;
}

export class OpenFiles {
  /** In the order of last use. */
  private readonly files = new Map<string, OpenFile>();
  private timer: NodeJS.Timeout | undefined;
  /** Since the timer was set. */
  private wasUsed = false;

  private room: Buffer = Buffer.alloc(0);

  constructor(private readonly disk: Disk) {}

  /** Room for one line, the same each time: what is read there must be used before the next read. */
  scratch(bytes: number): Buffer {
    if (bytes > this.room.length) {
      if (bytes > AHEAD_BYTES) return Buffer.allocUnsafe(bytes);
      this.room = Buffer.allocUnsafe(AHEAD_BYTES);
    }
    return this.room.subarray(0, bytes);
  }

  /** Fills `into` from `start` on; the number of bytes that were there. */
  read(path: string, into: Uint8Array, start: number, position: number): number {
    const open = this.open(path);
    const length = into.length - start;
    if (length > AHEAD_BYTES) return fill(open.run, into, start, position);
    if (position < open.from || position + length > open.to) this.readAhead(open, position);
    const end = Math.min(position + length, open.to);
    open.ahead?.copy(into, start, position - open.from, end - open.from);
    return end - position;
  }

  private readAhead(open: OpenFile, position: number): void {
    open.ahead ??= Buffer.allocUnsafe(AHEAD_BYTES);
    open.from = position;
    open.to = position; // nothing, should the disk fail now
    open.to += fill(open.run, open.ahead, 0, position);
  }

  private open(path: string): OpenFile {
    const known = this.files.get(path);
    if (known) known.isNew = false;
    const file = known ?? { run: RunBytes.open(this.disk, path), ahead: undefined, from: 0, to: 0, isNew: true };
    this.wasUsed = true;
    if (known && this.files.size === 1) return known;
    this.files.delete(path);
    this.files.set(path, file);
    if (this.files.size > OPEN_MAX) this.closeOldest();
    this.timer ??= setTimeout(() => this.closeIfUnused(), REST_MS).unref();
    return file;
  }

  /** Opens it anew when it is read next; false when it was opened for this read. */
  forget(path: string): boolean {
    const known = this.files.get(path);
    if (!known || known.isNew) return false;
    this.files.delete(path);
    known.run.close();
    return true;
  }

  private closeOldest(): void {
    for (const [path, { run }] of this.files) {
      this.files.delete(path);
      run.close();
      return;
    }
  }

  private closeIfUnused(): void {
    if (this.wasUsed) {
      this.wasUsed = false;
      this.timer?.refresh();
      return;
    }
    this.timer = undefined;
    for (const { run } of this.files.values()) run.close();
    this.files.clear();
  }
}
