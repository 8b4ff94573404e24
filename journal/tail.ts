/** What can be told of a run without reading all of it: its first event, its last one, its size. */
import { CHAIN_SEED, decode, LINE_BYTES_MAX, PREDECESSOR_BYTES, predecessorEnd, type Flaw } from './codec.js';
import type { Disk } from './disk.js';
import { codeOf } from './errors.js';
import type { JournalEvent } from './event.js';

const FIRST_WINDOW_BYTES = 4 * 1024;
/** A longer last line is not looked for: it isn't the short event that ends a run. */
const LAST_LINE_BYTES_MAX = 1024 * 1024;
const NEWLINE = 0x0a;

export interface Tail {
  readonly bytes: number;
  /** Undefined when the last line is torn, damaged or too long. */
  readonly last: JournalEvent | undefined;
}

/** A file that can't be read has no bytes and no last event. */
export function readTail(disk: Disk, path: string): Tail {
  return withFile(disk, path, lastOf) ?? { bytes: 0, last: undefined };
}

/** Undefined when it is missing, torn or damaged. */
export function readFirst(disk: Disk, path: string): JournalEvent | undefined {
  return usable(withFile(disk, path, firstOf));
}

/** Its first line is of a version that this program doesn't know, and so are all that follow. */
export function isOfUnknownVersion(disk: Disk, path: string): boolean {
  return withFile(disk, path, firstOf) === 'unknown-version';
}

function withFile<T>(disk: Disk, path: string, read: (disk: Disk, file: number) => T): T | undefined {
  let file: number | undefined;
  try {
    file = disk.openToRead(path);
    return read(disk, file);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  } finally {
    if (file !== undefined) disk.close(file);
  }
}

function lastOf(disk: Disk, file: number): Tail {
  const bytes = disk.sizeOf(file);
  for (let window = FIRST_WINDOW_BYTES; ; window *= 4) {
    const { buffer, isWhole } = readWindow(disk, file, Math.max(0, bytes - window), Math.min(window, bytes));
    const end = buffer.length - 1;
    if (bytes === 0 || buffer[end] !== NEWLINE) return { bytes, last: undefined };
    const start = buffer.lastIndexOf(NEWLINE, end - 1) + 1;
    // The predecessor's end must be in the window; before the first line it is put there.
    if (start >= PREDECESSOR_BYTES * 2 || isWhole) return { bytes, last: usable(decode(buffer, start, end)) };
    if (window >= LAST_LINE_BYTES_MAX) return { bytes, last: undefined };
  }
}

function firstOf(disk: Disk, file: number): JournalEvent | Flaw | undefined {
  const bytes = disk.sizeOf(file);
  for (let window = FIRST_WINDOW_BYTES; ; window *= 4) {
    const { buffer } = readWindow(disk, file, 0, Math.min(window, bytes));
    const end = buffer.indexOf(NEWLINE, PREDECESSOR_BYTES);
    if (end >= 0) return decode(buffer, PREDECESSOR_BYTES, end);
    if (window >= bytes || window >= LINE_BYTES_MAX) return undefined;
  }
}

function usable(event: JournalEvent | Flaw | undefined): JournalEvent | undefined {
  return typeof event === 'string' ? undefined : event;
}

/** Some bytes of a file; room in front holds what precedes the first line, for a window that begins with it. */
function readWindow(disk: Disk, file: number, position: number, count: number): { buffer: Buffer; isWhole: boolean } {
  const buffer = Buffer.alloc(PREDECESSOR_BYTES + count);
  buffer.write(predecessorEnd(CHAIN_SEED), 'latin1');
  let done = 0;
  while (done < count) {
    const more = disk.read(file, buffer, PREDECESSOR_BYTES + done, count - done, position + done);
    if (more === 0) break;
    done += more;
  }
  return { buffer: buffer.subarray(0, PREDECESSOR_BYTES + done), isWhole: position === 0 };
}
