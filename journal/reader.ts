/**
 * Reads and verifies a run. Its bytes never make it throw, whatever they are.
 *
 * READER-1 A line is usable when it follows on the hash that its predecessor *stores*, be that one damaged or not: one bad line costs
 *    itself, and its successor only when its own hash is what can't be read.
 * READER-2 Bytes behind the last newline are a torn tail: a crash, or a writer at work. Everything else that can't be used is damage.
 * READER-3 Neighbouring bad lines are one defect, reported once.
 * READER-4 A line that follows in the chain may still have members of other types than its event has, because whoever may record can write
 *    any line. Where a visitor fails on one (`visitLine`), the line counts as damage; every other error of a visitor is thrown.
 */
import { CHAIN_SEED, HASH_TO_LINE, LINE_BYTES_MAX, PREDECESSOR_BYTES } from './codec.js';
import type { Disk } from './storage/disk.js';
import { codeOf } from './errors.js';
import type { JournalEvent } from './event.js';
import { seqOf, type CallKey, type RunRef, type Seq } from './ids.js';
import { LineBuffer, NEWLINE, type Flaw } from './lines/line-buffer.js';
import { visitLine } from './lines/unfit.js';
import type { FileHandles } from './storage/file-handles.js';
import { RunBytes } from './segments.js';
import type { Defect, Position, ScanOptions, ScanReport } from './store.js';
import type { AnyEvent } from './upcast.js';

const BLOCK_BYTES = 256 * 1024;
/** A long scan lets the event loop continue after so many blocks: some 15 ms of parsing. */
const BLOCKS_PER_PAUSE = 16;
/** So many lines, or so many bytes of lines, are parsed at once. */
const PARSED_LINES_MAX = 64;
const PARSED_BYTES_MAX = 32 * 1024;

export type Visit = (event: JournalEvent, position: Position) => void;

export async function scanFile(disk: Disk, path: string, ref: RunRef, visit: Visit, options: ScanOptions = {}): Promise<ScanReport> {
  const scan = new LineScan(ref, visit, options);
  for (const _pause of scanning(disk, path, scan)) await new Promise(setImmediate);
  return scan.report();
}

/** Does what `scanFile` does, without waiting: the event loop rests until the whole run is read. */
export function scanFileNow(disk: Disk, path: string, ref: RunRef, visit: Visit): ScanReport {
  const scan = new LineScan(ref, visit, {});
  for (const _pause of scanning(disk, path, scan));
  return scan.report();
}

/** Whole lines that lie behind each other. Without lines, it says only that the run reaches to `offset`. */
export interface Page {
  readonly offset: number;
  readonly lines: Buffer;
}

/** Reads a run whose lines come in pages, in order. What is missing between two of them is damage. */
export async function scanPages(ref: RunRef, visit: Visit, options: ScanOptions, pages: AsyncIterable<Page>): Promise<ScanReport> {
  const scan = new LineScan(ref, visit, options);
  let hash: string | undefined = scan.previousHash;
  for await (const { offset, lines } of pages) {
    if (offset < scan.offset) {
      scan.shrunk();
      break;
    }
    if (offset > scan.offset) {
      scan.gap(offset);
      hash = undefined;
    }
    const buffer = new LineBuffer(lines.length);
    buffer.follow(hash ?? CHAIN_SEED); // behind a gap, the hash that the next line follows on is not known
    lines.copy(buffer.bytes, PREDECESSOR_BYTES);
    scan.take(buffer, PREDECESSOR_BYTES, buffer.bytes.length);
    if (scan.isFull) return scan.report();
    if (lines.length > 0) hash = lines.toString('latin1', lines.length - PREDECESSOR_BYTES, lines.length - HASH_TO_LINE);
  }
  scan.end(0);
  return scan.report();
}

/** Yields where a long scan lets the event loop continue. */
function* scanning(disk: Disk, path: string, scan: LineScan): Generator<undefined> {
  let run: RunBytes | undefined;
  try {
    run = RunBytes.open(disk, path);
    yield* readLines(run, scan);
    if (run.problem !== undefined) scan.unreadable(run.problem);
  } catch (error) {
    if (scan.isVisiting || codeOf(error) === undefined) throw error;
    scan.unreadable((error as Error).message);
  } finally {
    run?.close();
  }
}

/** Bytes that are no whole line yet stay in the buffer, moved to its beginning, until the rest of the line is read. */
function* readLines(run: RunBytes, scan: LineScan): Generator<undefined> {
  let buffer = new LineBuffer(BLOCK_BYTES);
  buffer.follow(scan.previousHash);
  let limit = PREDECESSOR_BYTES;
  let position = scan.offset;
  if (run.size < position) return scan.shrunk();
  for (let blocks = 1; ; blocks++) {
    const { bytes } = buffer;
    const count = run.read(bytes, limit, bytes.length - limit, position);
    if (count === 0) {
      const gap = run.gapAt(position);
      if (!gap) break;
      scan.gap(gap.to);
      position = gap.to;
      buffer.follow(gap.hash);
      limit = PREDECESSOR_BYTES;
      continue;
    }
    const rest = scan.take(buffer, limit, limit + count);
    if (scan.isFull) return;
    position += count;
    limit += count;
    bytes.copyWithin(0, rest - PREDECESSOR_BYTES, limit);
    limit -= rest - PREDECESSOR_BYTES;
    if (limit === bytes.length) {
      if (limit < LINE_BYTES_MAX) buffer = buffer.grown();
      else {
        // The hash at its end is still needed, so its last bytes are kept.
        scan.skip(limit - PREDECESSOR_BYTES);
        bytes.copyWithin(0, limit - PREDECESSOR_BYTES, limit);
        limit = PREDECESSOR_BYTES;
      }
    }
    if (blocks % BLOCKS_PER_PAUSE === 0) yield;
  }
  scan.end(limit - PREDECESSOR_BYTES);
}

/** The state of a scan: decides of each line whether it is usable, and reports those that are not. */
class LineScan {
  offset: number;
  /** An error that is thrown meanwhile is the visitor's and not the disk's. */
  isVisiting = false;
  readonly previousHash: string;
  private line = 0;
  private events = 0;
  private defects = 0;
  private usableEnd: number;
  private usableSeq: Seq;
  private usableHash: string;
  private flawed: { readonly flaw: Flaw; readonly line: number; readonly offset: number; lines: number } | undefined;
  /** Inside a line that is too long to be kept; it is counted already. */
  private skipping = false;

  constructor(
    private readonly ref: RunRef,
    private readonly visit: Visit,
    private readonly options: ScanOptions,
  ) {
    const { offset, seq, hash } = options.from ?? { offset: 0, seq: seqOf(-1), hash: CHAIN_SEED };
    this.offset = this.usableEnd = offset;
    this.usableSeq = seq;
    this.previousHash = this.usableHash = hash;
  }

  /** True once `eventsMax` events have been visited. */
  get isFull(): boolean {
    return this.events === this.options.eventsMax;
  }

  /** Takes all whole lines of the buffer, of which the bytes from `newFrom` on are new. Returns the offset of the rest. */
  take(buffer: LineBuffer, newFrom: number, limit: number): number {
    let start = PREDECESSOR_BYTES;
    for (let from = newFrom; ; from = start) {
      const ends = this.nextEnds(buffer.bytes, start, from, limit);
      if (ends.length === 0) return start;
      const parsed = buffer.parse(start, ends);
      for (let i = 0; i < ends.length; i++) {
        if (this.isFull) return start;
        const end = ends[i] as number;
        this.takeLine(buffer, start, end, parsed?.[i]);
        this.offset += end + 1 - start;
        start = end + 1;
      }
    }
  }

  /** Finds the ends of the next few lines, of which the first begins at `start`. */
  private nextEnds(bytes: Buffer, start: number, from: number, limit: number): readonly number[] {
    const { eventsMax = Infinity } = this.options;
    const linesMax = Math.min(PARSED_LINES_MAX, eventsMax - this.events);
    const ends: number[] = [];
    let end = from - 1;
    while (ends.length < linesMax && (ends.length === 0 || end - start < PARSED_BYTES_MAX)) {
      end = bytes.indexOf(NEWLINE, end + 1);
      if (end < 0 || end >= limit) break;
      ends.push(end);
    }
    return ends;
  }

  private takeLine(buffer: LineBuffer, start: number, end: number, parsed: AnyEvent | undefined): void {
    if (this.skipping) {
      this.skipping = false;
      return;
    }
    this.line++;
    const event = buffer.decode(start, end, parsed);
    if (typeof event === 'string') return this.bad(event);
    if (!(event.seq > this.usableSeq)) return this.bad('corrupt');
    if (this.flawed) this.reportFlawed();
    const bytes = end - start;
    this.events++;
    this.usableEnd = this.offset + bytes + 1;
    this.usableSeq = event.seq;
    this.usableHash = event.hash;
    this.isVisiting = true;
    const defect = visitLine(this.visit, event, { offset: this.offset, bytes }, this.ref);
    if (defect !== undefined) {
      this.defects++;
      this.options.onDefect?.(defect);
    }
    this.isVisiting = false;
  }

  /** The bytes before `to` are gone, and with them a line that is there in part. */
  gap(to: number): void {
    this.line++;
    this.bad('corrupt');
    this.skipping = false;
    this.offset = to;
  }

  /** Passes over bytes of a line that is longer than any line may be. */
  skip(bytes: number): void {
    if (!this.skipping) {
      this.line++;
      this.bad('corrupt');
      this.skipping = true;
    }
    this.offset += bytes;
  }

  private bad(flaw: Flaw): void {
    if (this.flawed?.flaw === flaw) {
      this.flawed.lines++;
      return;
    }
    if (this.flawed) this.reportFlawed();
    this.flawed = { flaw, line: this.line, offset: this.offset, lines: 1 };
  }

  end(restBytes: number): void {
    if (this.flawed) this.reportFlawed();
    if (restBytes === 0 || this.skipping) return;
    this.defect('torn-tail', `the last line is incomplete (${restBytes} bytes)`, this.line + 1, this.offset);
  }

  shrunk(): void {
    this.defect('corrupt', 'the file is shorter than when it was read before', undefined, this.offset);
  }

  unreadable(why: string): void {
    if (this.flawed) this.reportFlawed();
    this.defect('unreadable', why);
  }

  report(): ScanReport {
    return { events: this.events, defects: this.defects, end: { offset: this.usableEnd, seq: this.usableSeq, hash: this.usableHash } };
  }

  private reportFlawed(): void {
    if (!this.flawed) return;
    const { flaw, line, offset, lines } = this.flawed;
    this.flawed = undefined;
    const what = lines === 1 ? 'a line' : `${lines} lines`;
    const why = flaw === 'corrupt' ? 'changed or damaged since written' : 'in a version of the journal that this program does not know';
    this.defect(flaw, `${what} ${why}`, line, offset);
  }

  private defect(kind: Defect['kind'], message: string, line?: number, offset?: number): void {
    this.defects++;
    // A scan that began behind the first line can't count lines.
    const numbered = line === undefined || this.options.from?.offset ? {} : { line };
    this.options.onDefect?.({ kind, run: this.ref, message, ...numbered, ...(offset === undefined ? {} : { offset }) });
  }
}

/** Reads one line again, verified against the hash before it in the file. Undefined when it has changed. */
export function readLineAt(files: FileHandles, path: string, position: Position): JournalEvent | undefined {
  return fromOpenFile(files, path, () => {
    const event = lineWithPredecessor(files, path, position)?.decode(PREDECESSOR_BYTES, PREDECESSOR_BYTES + position.bytes);
    return typeof event === 'string' ? undefined : event;
  });
}

/** Tries again with a newly opened file when nothing is found: the writer may have continued in another segment since. */
function fromOpenFile<T>(files: FileHandles, path: string, find: () => T | undefined): T | undefined {
  return find() ?? (files.forget(path) ? find() : undefined);
}

/** Tells whether the line is whole and completes this call: it is verified, but not parsed. */
export function holdsCall(files: FileHandles, path: string, position: Position, key: CallKey): boolean {
  return fromOpenFile(files, path, () => holdsCallNow(files, path, position, key) || undefined) ?? false;
}

function holdsCallNow(files: FileHandles, path: string, position: Position, key: CallKey): boolean {
  const buffer = lineWithPredecessor(files, path, position);
  const end = PREDECESSOR_BYTES + position.bytes;
  if (!buffer?.verifies(PREDECESSOR_BYTES, end)) return false;
  const head = buffer.bytes.toString('latin1', PREDECESSOR_BYTES, Math.min(PREDECESSOR_BYTES + COMPLETED_HEAD_BYTES, end + 1));
  return head.includes(`,"type":"call.completed","key":"${key}",`);
}
const COMPLETED_HEAD_BYTES = 192;

function lineWithPredecessor(files: FileHandles, path: string, { offset, bytes }: Position): LineBuffer | undefined {
  const start = PREDECESSOR_BYTES;
  const before = Math.min(offset, PREDECESSOR_BYTES);
  const end = start + bytes;
  const buffer = files.lineBuffer(bytes + 1);
  if (offset === 0) buffer.follow(CHAIN_SEED);
  let count = 0;
  try {
    count = files.read(path, buffer.bytes, start - before, end + 1, offset - before);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
  return count < before + bytes + 1 || buffer.bytes[end] !== NEWLINE ? undefined : buffer;
}
