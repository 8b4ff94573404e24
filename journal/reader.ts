/**
 * Reads and verifies a run. Content never makes it throw.
 *
 * R1 A line is usable when it follows on the hash that its predecessor *stores*, be that one damaged or not: one bad line costs
 *    itself, and its successor only when its own hash is what can't be read.
 * R2 Bytes behind the last newline are a torn tail: a crash, or a writer at work. Everything else that can't be used is damage.
 * R3 Neighbouring bad lines are one defect, reported once.
 */
import {
  CHAIN_SEED,
  decode,
  followsOn,
  LINE_BYTES_MAX,
  NEWLINE,
  parseLines,
  PREDECESSOR_BYTES,
  predecessorEnd,
  type Flaw,
} from './codec.js';
import type { Disk } from './storage/disk.js';
import { codeOf } from './errors.js';
import type { JournalEvent } from './event.js';
import { seqOf, type CallKey, type RunRef, type Seq } from './ids.js';
import type { OpenFiles } from './storage/file-handles.js';
import { RunBytes } from './segments.js';
import type { Defect, Position, ScanOptions, ScanReport } from './store.js';
import type { AnyEvent } from './upcast.js';

const BLOCK_BYTES = 256 * 1024;
/** How often a long scan lets others run: some 15 ms of parsing. */
const BLOCKS_PER_TURN = 16;
/** Lines that are parsed at once, and how many bytes of them. */
const PARSED_LINES_MAX = 64;
const PARSED_BYTES_MAX = 32 * 1024;

export type Visit = (event: JournalEvent, position: Position) => void;

export async function scanFile(disk: Disk, path: string, ref: RunRef, visit: Visit, options: ScanOptions = {}): Promise<ScanReport> {
  const lines = new LineScan(ref, visit, options);
  let run: RunBytes | undefined;
  try {
    run = RunBytes.open(disk, path);
    await readLines(run, lines);
    if (run.problem !== undefined) lines.unreadable(run.problem);
  } catch (error) {
    if (lines.isVisiting || codeOf(error) === undefined) throw error;
    lines.unreadable((error as Error).message);
  } finally {
    run?.close();
  }
  return lines.report();
}

/** The buffer begins with the end of the line before (`PREDECESSOR_BYTES`); behind it stand bytes that are no whole line yet. */
async function readLines(run: RunBytes, lines: LineScan): Promise<void> {
  let buffer: Buffer = Buffer.allocUnsafe(PREDECESSOR_BYTES + BLOCK_BYTES);
  buffer.write(predecessorEnd(lines.previousHash), 'latin1');
  let limit = PREDECESSOR_BYTES;
  let position = lines.offset;
  if (run.size < position) return lines.shrunk();
  for (let blocks = 1; ; blocks++) {
    const count = run.read(buffer, limit, buffer.length - limit, position);
    if (count === 0) {
      const gap = run.gapAt(position);
      if (!gap) break;
      lines.gap(gap.to);
      position = gap.to;
      buffer.write(predecessorEnd(gap.hash), 'latin1');
      limit = PREDECESSOR_BYTES;
      continue;
    }
    const rest = lines.take(buffer, limit, limit + count);
    if (lines.isFull) return;
    position += count;
    limit += count;
    buffer.copyWithin(0, rest - PREDECESSOR_BYTES, limit);
    limit -= rest - PREDECESSOR_BYTES;
    if (limit === buffer.length) {
      if (limit < LINE_BYTES_MAX) buffer = grown(buffer);
      else {
        // The hash at its end is still wanted, so its last bytes stay.
        lines.skip(limit - PREDECESSOR_BYTES);
        buffer.copyWithin(0, limit - PREDECESSOR_BYTES, limit);
        limit = PREDECESSOR_BYTES;
      }
    }
    if (blocks % BLOCKS_PER_TURN === 0) await new Promise(setImmediate);
  }
  lines.end(limit - PREDECESSOR_BYTES);
}

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafe(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}

/** Where a scan stands, and what it makes of the next line. */
class LineScan {
  offset: number;
  /** Tells an error of the visitor from one of the disk. */
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

  /** As many events as were wanted have been visited. */
  get isFull(): boolean {
    return this.events === this.options.eventsMax;
  }

  /** All whole lines of the buffer, of which the bytes from `newFrom` on are new. Returns where the rest begins. */
  take(buffer: Buffer, newFrom: number, limit: number): number {
    let start = PREDECESSOR_BYTES;
    for (let from = newFrom; ; from = start) {
      const ends = this.nextEnds(buffer, start, from, limit);
      if (ends.length === 0) return start;
      const parsed = parseLines(buffer, start, ends);
      for (let i = 0; i < ends.length; i++) {
        if (this.isFull) return start;
        const end = ends[i] as number;
        this.takeLine(buffer, start, end, parsed?.[i]);
        this.offset += end + 1 - start;
        start = end + 1;
      }
    }
  }

  /** Where the next few lines end, of which the first begins at `start`. */
  private nextEnds(buffer: Buffer, start: number, from: number, limit: number): readonly number[] {
    const { eventsMax = Infinity } = this.options;
    const linesMax = Math.min(PARSED_LINES_MAX, eventsMax - this.events);
    const ends: number[] = [];
    let end = from - 1;
    while (ends.length < linesMax && (ends.length === 0 || end - start < PARSED_BYTES_MAX)) {
      end = buffer.indexOf(NEWLINE, end + 1);
      if (end < 0 || end >= limit) break;
      ends.push(end);
    }
    return ends;
  }

  private takeLine(buffer: Buffer, start: number, end: number, parsed: AnyEvent | undefined): void {
    if (this.skipping) {
      this.skipping = false;
      return;
    }
    this.line++;
    const event = decode(buffer, start, end, parsed);
    if (typeof event === 'string') return this.bad(event);
    if (!(event.seq > this.usableSeq)) return this.bad('corrupt');
    if (this.flawed) this.reportFlawed();
    const bytes = end - start;
    this.events++;
    this.usableEnd = this.offset + bytes + 1;
    this.usableSeq = event.seq;
    this.usableHash = event.hash;
    this.isVisiting = true;
    this.visit(event, { offset: this.offset, bytes });
    this.isVisiting = false;
  }

  /** What stood before `to` is gone, and with it a line that is there in part. */
  gap(to: number): void {
    this.line++;
    this.bad('corrupt');
    this.skipping = false;
    this.offset = to;
  }

  /** Bytes of a line that is longer than any line may be. */
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

/** One line again, verified against the hash that stands before it in the file. Undefined when it isn't what it was. */
export function readLineAt(files: OpenFiles, path: string, position: Position): JournalEvent | undefined {
  return fromOpenFile(files, path, () => {
    const buffer = lineWithPredecessor(files, path, position);
    const event = buffer && decode(buffer, PREDECESSOR_BYTES, PREDECESSOR_BYTES + position.bytes);
    return typeof event === 'string' ? undefined : event;
  });
}

/** Once more from the disk, when nothing is found in a file that was open: its writer may have gone on in another segment since. */
function fromOpenFile<T>(files: OpenFiles, path: string, find: () => T | undefined): T | undefined {
  return find() ?? (files.forget(path) ? find() : undefined);
}

/** Whether the line there is whole and completes this call: verified, but not parsed. */
export function holdsCall(files: OpenFiles, path: string, position: Position, key: CallKey): boolean {
  return fromOpenFile(files, path, () => holdsCallNow(files, path, position, key) || undefined) ?? false;
}

function holdsCallNow(files: OpenFiles, path: string, position: Position, key: CallKey): boolean {
  const buffer = lineWithPredecessor(files, path, position);
  if (!buffer || !followsOn(buffer, PREDECESSOR_BYTES, PREDECESSOR_BYTES + position.bytes)) return false;
  const head = buffer.toString('latin1', PREDECESSOR_BYTES, Math.min(PREDECESSOR_BYTES + COMPLETED_HEAD_BYTES, buffer.length));
  return head.includes(`,"type":"call.completed","key":"${key}",`);
}
const COMPLETED_HEAD_BYTES = 192;

function lineWithPredecessor(files: OpenFiles, path: string, { offset, bytes }: Position): Buffer | undefined {
  const start = PREDECESSOR_BYTES;
  const before = Math.min(offset, PREDECESSOR_BYTES);
  const end = start + bytes;
  const buffer = files.scratch(end + 1);
  if (offset === 0) buffer.write(predecessorEnd(CHAIN_SEED), 'latin1');
  const count = readOrNothing(files, path, buffer, start - before, offset - before);
  return count < before + bytes + 1 || buffer[end] !== NEWLINE ? undefined : buffer;
}

function readOrNothing(files: OpenFiles, path: string, buffer: Buffer, start: number, position: number): number {
  try {
    return files.read(path, buffer, start, position);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return 0;
  }
}
