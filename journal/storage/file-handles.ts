/**
 * Files that stay open for a moment after they were read, because results are read one by one from the same few runs and opening
 * a file costs more than reading a line. They are closed after a second or two without use, and the longest unused when there are too many.
 *
 * Results are mostly read in the order in which they were made, so a read fetches what follows along. Bytes of a journal never
 * change once they are there, so what was fetched along is valid while the file is open.
 */
import type { Disk } from './disk.js';
import { LineBuffer } from '../lines/line-buffer.js';
import { RunBytes } from '../segments.js';

const OPEN_MAX = 8;
const REST_MS = 1000;
/** So many bytes are read at once. A longer line is read for itself. */
const AHEAD_BYTES = 128 * 1024;

interface OpenFile {
  readonly run: RunBytes;
  /** Bytes `from` to `to` of the file, once something was read ahead. */
  ahead: Buffer | undefined;
  from: number;
  to: number;
  /** True until the second read. */
  isNew: boolean;
}

/** Reads until `into` is full or the run ends. Returns the number of bytes. */
function fill(run: RunBytes, into: Uint8Array, position: number): number {
  let end = 0;
  while (end < into.length) {
    const count = run.read(into, end, into.length - end, position + end);
    if (count === 0) break;
    end += count;
  }
  return end;
}

export class FileHandles {
  /** Ordered by their last use. */
  private readonly files = new Map<string, OpenFile>();
  private timer: NodeJS.Timeout | undefined;
  /** True when a file was read since the timer was set. */
  private wasUsed = false;

  private usualLine: LineBuffer | undefined;

  constructor(private readonly disk: Disk) {}

  /** Returns room for one line, the same each time: what is read there must be used before the next read. */
  lineBuffer(lineBytes: number): LineBuffer {
    if (lineBytes > AHEAD_BYTES) return new LineBuffer(lineBytes);
    return (this.usualLine ??= new LineBuffer(AHEAD_BYTES));
  }

  /** Fills `into` from `start` to `end`. Returns the number of bytes that were there. */
  read(path: string, into: Uint8Array, start: number, end: number, position: number): number {
    const open = this.open(path);
    const length = end - start;
    if (length > AHEAD_BYTES) return fill(open.run, into.subarray(start, end), position);
    if (position < open.from || position + length > open.to) this.readAhead(open, position);
    const last = Math.min(position + length, open.to);
    open.ahead?.copy(into, start, position - open.from, last - open.from);
    return last - position;
  }

  private readAhead(open: OpenFile, position: number): void {
    open.ahead ??= Buffer.allocUnsafe(AHEAD_BYTES);
    open.from = position;
    open.to = position; // nothing, should the disk fail now
    open.to += fill(open.run, open.ahead, position);
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

  /** Closes the file, so that the next read opens it anew; false when it was opened for this read. */
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
