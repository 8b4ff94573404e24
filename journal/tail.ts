/** What can be told of a run without reading all of it: its first event, its last one, its size. */
import { CHAIN_SEED, decode, LINE_BYTES_MAX, PREDECESSOR_BYTES, predecessorEnd, type Flaw } from './codec.js';
import type { Disk } from './storage/disk.js';
import { codeOf } from './errors.js';
import type { JournalEvent } from './event.js';
import { RunBytes } from './segments.js';

const FIRST_WINDOW_BYTES = 4 * 1024;
/** A longer last line is not looked for: it isn't the short event that ends a run. */
const LAST_LINE_BYTES_MAX = 1024 * 1024;
const NEWLINE = 0x0a;

export interface Tail {
  readonly bytes: number;
  /** Undefined when the last line is torn, damaged or too long. */
  readonly last: JournalEvent | undefined;
}

/** A file that can't be read has no bytes and no last event. `isWhole`: the run has no further segments. */
export function readTail(disk: Disk, path: string, isWhole?: boolean): Tail {
  return withRun(disk, path, isWhole, lastOf) ?? { bytes: 0, last: undefined };
}

/** Undefined when it is missing, torn or damaged. */
export function readFirst(disk: Disk, path: string): JournalEvent | undefined {
  return usable(withRun(disk, path, undefined, firstOf));
}

/** Its first line is of a version that this program doesn't know, and so are all that follow. */
export function isOfUnknownVersion(disk: Disk, path: string): boolean {
  return withRun(disk, path, undefined, firstOf) === 'unknown-version';
}

function withRun<T>(disk: Disk, path: string, isWhole: boolean | undefined, read: (run: RunBytes) => T): T | undefined {
  let run: RunBytes | undefined;
  try {
    run = RunBytes.open(disk, path, isWhole);
    return read(run);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  } finally {
    run?.close();
  }
}

function lastOf(run: RunBytes): Tail {
  const bytes = run.size;
  for (let window = FIRST_WINDOW_BYTES; ; window *= 4) {
    const { buffer, isWhole } = readWindow(run, Math.max(0, bytes - window), Math.min(window, bytes));
    const end = buffer.length - 1;
    if (bytes === 0 || buffer[end] !== NEWLINE) return { bytes, last: undefined };
    const start = buffer.lastIndexOf(NEWLINE, end - 1) + 1;
    // The predecessor's end must be in the window; before the first line it is put there.
    if (start >= PREDECESSOR_BYTES * 2 || isWhole) return { bytes, last: usable(decode(buffer, start, end)) };
    if (window >= LAST_LINE_BYTES_MAX) return { bytes, last: undefined };
  }
}

function firstOf(run: RunBytes): JournalEvent | Flaw | undefined {
  const bytes = run.size;
  for (let window = FIRST_WINDOW_BYTES; ; window *= 4) {
    const { buffer } = readWindow(run, 0, Math.min(window, bytes));
    const end = buffer.indexOf(NEWLINE, PREDECESSOR_BYTES);
    if (end >= 0) return decode(buffer, PREDECESSOR_BYTES, end);
    if (window >= bytes || window >= LINE_BYTES_MAX) return undefined;
  }
}

function usable(event: JournalEvent | Flaw | undefined): JournalEvent | undefined {
  return typeof event === 'string' ? undefined : event;
}

/** Some bytes of a file; room in front holds what precedes the first line, for a window that begins with it. */
function readWindow(run: RunBytes, position: number, count: number): { buffer: Buffer; isWhole: boolean } {
  const buffer = Buffer.alloc(PREDECESSOR_BYTES + count);
  buffer.write(predecessorEnd(CHAIN_SEED), 'latin1');
  let done = 0;
  while (done < count) {
    const more = run.read(buffer, PREDECESSOR_BYTES + done, count - done, position + done);
    if (more === 0) break;
    done += more;
  }
  return { buffer: buffer.subarray(0, PREDECESSOR_BYTES + done), isWhole: position === 0 };
}
