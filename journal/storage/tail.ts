/** Reads from a run what is known without reading all of it: its first event, its last one, its size. */
import { CHAIN_SEED, LINE_BYTES_MAX, PREDECESSOR_BYTES } from '../codec.js';
import type { Disk } from './disk.js';
import { codeOf } from '../errors.js';
import type { JournalEvent } from '../event.js';
import { LineBuffer, NEWLINE, type Flaw } from '../lines/line-buffer.js';
import { RunBytes } from '../segments.js';
import type { RunFile } from '../store.js';

const FIRST_WINDOW_BYTES = 4 * 1024;
/** A longer last line is not looked for: it isn't the short event that ends a run. */
const LAST_LINE_BYTES_MAX = 1024 * 1024;

export interface Tail {
  readonly bytes: number;
  /** Undefined when the last line is torn, damaged or too long. */
  readonly last: JournalEvent | undefined;
}

export type Beginning = Pick<RunFile, 'isOfUnknownVersion' | 'isSalvage' | 'isWorker'>;

/** A file that can't be read has no bytes and no last event. `isWhole`: the run has no further segments. */
export function readTail(disk: Disk, path: string, isWhole?: boolean): Tail {
  return withRun(disk, path, isWhole, lastOf) ?? { bytes: 0, last: undefined };
}

/** Returns the first event; undefined when it is missing, torn or damaged. */
export function readFirst(disk: Disk, path: string): JournalEvent | undefined {
  return usable(withRun(disk, path, undefined, firstOf));
}

/** Says of a run without an end what its first line tells of it: whether it can be read, and whether it serves another run. */
export function describeBeginning(disk: Disk, path: string): Beginning {
  const first = withRun(disk, path, undefined, firstOf);
  if (first === 'unknown-version') return { isOfUnknownVersion: true };
  return servingRole(usable(first));
}

export function servingRole(first: JournalEvent | undefined): Beginning {
  if (first?.type !== 'run.started') return {};
  if (first.worker !== undefined) return { isWorker: true };
  return first.salvages === undefined ? {} : { isSalvage: true };
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
    const { lines, limit, isWhole } = readWindow(run, Math.max(0, bytes - window), Math.min(window, bytes));
    const end = limit - 1;
    if (bytes === 0 || lines.bytes[end] !== NEWLINE) return { bytes, last: undefined };
    const start = lines.bytes.lastIndexOf(NEWLINE, end - 1) + 1;
    // The predecessor's end must be in the window; before the first line it is put there.
    if (start >= PREDECESSOR_BYTES * 2 || isWhole) return { bytes, last: usable(lines.decode(start, end)) };
    if (window >= LAST_LINE_BYTES_MAX) return { bytes, last: undefined };
  }
}

function firstOf(run: RunBytes): JournalEvent | Flaw | undefined {
  const bytes = run.size;
  for (let window = FIRST_WINDOW_BYTES; ; window *= 4) {
    const { lines, limit } = readWindow(run, 0, Math.min(window, bytes));
    const end = lines.bytes.indexOf(NEWLINE, PREDECESSOR_BYTES);
    if (end >= 0 && end < limit) return lines.decode(PREDECESSOR_BYTES, end);
    if (window >= bytes || window >= LINE_BYTES_MAX) return undefined;
  }
}

function usable(event: JournalEvent | Flaw | undefined): JournalEvent | undefined {
  return typeof event === 'string' ? undefined : event;
}

/** Reads some bytes of a run, up to `limit`. A window that begins with the first line has the chain's seed before it. */
function readWindow(run: RunBytes, position: number, count: number): { lines: LineBuffer; limit: number; isWhole: boolean } {
  const lines = new LineBuffer(count);
  lines.follow(CHAIN_SEED);
  let limit = PREDECESSOR_BYTES;
  const end = PREDECESSOR_BYTES + count;
  while (limit < end) {
    const more = run.read(lines.bytes, limit, end - limit, position + limit - PREDECESSOR_BYTES);
    if (more === 0) break;
    limit += more;
  }
  return { lines, limit, isWhole: position === 0 };
}
