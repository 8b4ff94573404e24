/** What can be told of a run without reading all of it: its first event, its last one, its size. */
import { CHAIN_SEED, decode, LINE_BYTES_MAX, PREDECESSOR_HASH_BYTES, ROOM_BEFORE_LINE, storedHash } from './codec.js';
import { codeOf, type Disk } from './disk.js';
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
  return withFile(disk, path, firstOf);
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
    const count = Math.min(window, bytes);
    const buffer = readAll(disk, file, bytes - count, count);
    const end = buffer.length - 1;
    if (count === 0 || buffer[end] !== NEWLINE) return { bytes, last: undefined };
    const start = buffer.lastIndexOf(NEWLINE, end - 1) + 1;
    const isFirst = count === bytes && start <= PREDECESSOR_HASH_BYTES;
    if (start >= PREDECESSOR_HASH_BYTES * 2 || isFirst) {
      return { bytes, last: eventAt(buffer, isFirst ? PREDECESSOR_HASH_BYTES : start, end, isFirst) };
    }
    if (count === bytes || window >= LAST_LINE_BYTES_MAX) return { bytes, last: undefined };
  }
}

function firstOf(disk: Disk, file: number): JournalEvent | undefined {
  const bytes = disk.sizeOf(file);
  for (let window = FIRST_WINDOW_BYTES; ; window *= 4) {
    const count = Math.min(window, bytes);
    const buffer = readAll(disk, file, 0, count);
    const end = buffer.indexOf(NEWLINE, PREDECESSOR_HASH_BYTES);
    if (end >= 0) return eventAt(buffer, PREDECESSOR_HASH_BYTES, end, true);
    if (count === bytes || window >= LINE_BYTES_MAX) return undefined;
  }
}

function eventAt(buffer: Buffer, start: number, end: number, isFirst: boolean): JournalEvent | undefined {
  const hashAt = start - PREDECESSOR_HASH_BYTES;
  const previous = isFirst ? CHAIN_SEED : buffer.toString('latin1', hashAt, hashAt + ROOM_BEFORE_LINE);
  const event = decode(buffer, { start, end }, { previous, own: storedHash(buffer, start, end) });
  return typeof event === 'string' ? undefined : event;
}

/** With room for a predecessor's hash in front. */
function readAll(disk: Disk, file: number, position: number, count: number): Buffer {
  const buffer = Buffer.alloc(PREDECESSOR_HASH_BYTES + count);
  let done = 0;
  while (done < count) {
    const more = disk.read(file, buffer, PREDECESSOR_HASH_BYTES + done, count - done, position + done);
    if (more === 0) break;
    done += more;
  }
  return buffer.subarray(0, PREDECESSOR_HASH_BYTES + done);
}
