/**
 * Reads and verifies a run. Content never makes it throw.
 *
 * R1 A line is usable when it follows on the hash that its predecessor *stores*, be that one damaged or not: one bad line costs
 *    itself, and its successor only when its own hash is what can't be read.
 * R2 Bytes behind the last newline are a torn tail: a crash, or a writer at work. Everything else that can't be used is damage.
 * R3 Neighbouring bad lines are one defect, reported once.
 */
import { CHAIN_SEED, decode, LINE_BYTES_MAX, PREDECESSOR_HASH_BYTES, ROOM_BEFORE_LINE, storedHash, type Flaw } from './codec.js';
import { codeOf, type Disk } from './disk.js';
import type { JournalEvent } from './event.js';
import { seqOf, type RunRef } from './ids.js';
import type { OpenFiles } from './open-files.js';
import type { Defect, Position, ScanOptions, ScanReport } from './store.js';

const BLOCK_BYTES = 256 * 1024;
/** How often a long scan lets others run: some 15 ms of parsing. */
const BLOCKS_PER_TURN = 16;
const NEWLINE = 0x0a;

export type Visit = (event: JournalEvent, position: Position) => void;

export async function scanFile(disk: Disk, path: string, ref: RunRef, visit: Visit, options: ScanOptions = {}): Promise<ScanReport> {
  const lines = new LineScan(ref, visit, options);
  let file: number | undefined;
  try {
    file = disk.openToRead(path);
    await readLines(disk, file, lines);
  } catch (error) {
    if (codeOf(error) === undefined) throw error; // from `visit`
    lines.unreadable(error as Error);
  } finally {
    if (file !== undefined) disk.close(file);
  }
  return lines.report();
}

async function readLines(disk: Disk, file: number, lines: LineScan): Promise<void> {
  // Bytes of the file stand from ROOM_BEFORE_LINE on; `decode` needs what is before.
  let buffer: Buffer = Buffer.allocUnsafe(ROOM_BEFORE_LINE + BLOCK_BYTES);
  let limit = ROOM_BEFORE_LINE;
  let position = lines.offset;
  if (disk.sizeOf(file) < position) return lines.shrunk();
  for (let blocks = 1; ; blocks++) {
    const count = disk.read(file, buffer, limit, buffer.length - limit, position);
    if (count === 0) break;
    const searchFrom = limit;
    position += count;
    limit += count;
    const rest = lines.take(buffer, searchFrom, limit);
    if (rest === ROOM_BEFORE_LINE && limit === buffer.length) {
      buffer = grown(buffer);
      if (buffer.length > LINE_BYTES_MAX * 2) {
        lines.skipBytes(limit - ROOM_BEFORE_LINE);
        buffer = Buffer.allocUnsafe(ROOM_BEFORE_LINE + BLOCK_BYTES);
        limit = ROOM_BEFORE_LINE;
      }
    } else if (rest > ROOM_BEFORE_LINE) {
      buffer.copyWithin(ROOM_BEFORE_LINE, rest, limit);
      limit -= rest - ROOM_BEFORE_LINE;
    }
    if (blocks % BLOCKS_PER_TURN === 0) await new Promise(setImmediate);
  }
  lines.end(limit - ROOM_BEFORE_LINE);
}

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafe(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}

/** Where a scan stands, and what it makes of the next line. */
class LineScan {
  offset: number;
  private line = 0;
  private previousHash: string | undefined;
  private events = 0;
  private defects = 0;
  private lastUsable: ScanReport['end'];
  private flawed: { readonly flaw: Flaw; readonly line: number; readonly offset: number; lines: number } | undefined;
  /** Inside a line that is too long to be kept. */
  private skipping = false;

  constructor(
    private readonly ref: RunRef,
    private readonly visit: Visit,
    private readonly options: ScanOptions,
  ) {
    this.lastUsable = options.from ?? { offset: 0, seq: seqOf(-1), hash: CHAIN_SEED };
    this.offset = this.lastUsable.offset;
    this.previousHash = this.lastUsable.hash;
  }

  /** All whole lines of the buffer, of which the bytes from `searchFrom` on are new. Returns where the rest begins. */
  take(buffer: Buffer, searchFrom: number, limit: number): number {
    let start = ROOM_BEFORE_LINE;
    let end = buffer.indexOf(NEWLINE, searchFrom);
    while (end >= 0 && end < limit) {
      this.takeLine(buffer, start, end);
      this.offset += end + 1 - start;
      start = end + 1;
      end = buffer.indexOf(NEWLINE, start);
    }
    return start;
  }

  private takeLine(buffer: Buffer, start: number, end: number): void {
    this.line++;
    if (this.skipping) {
      // The end of a line that was dropped; its hash is still good for its successor.
      this.skipping = false;
      this.previousHash = storedHash(buffer, start, end);
      return;
    }
    const own = storedHash(buffer, start, end);
    const event = decode(buffer, { start, end }, { previous: this.previousHash, own });
    this.previousHash = own;
    if (typeof event === 'string') return this.bad(event);
    if (event.seq <= this.lastUsable.seq) return this.bad('corrupt');
    if (this.flawed) this.reportFlawed();
    this.events++;
    this.lastUsable = { offset: this.offset + end + 1 - start, seq: event.seq, hash: event.hash };
    this.visit(event, { offset: this.offset, bytes: end - start });
  }

  private bad(flaw: Flaw): void {
    if (this.flawed?.flaw === flaw) {
      this.flawed.lines++;
      return;
    }
    if (this.flawed) this.reportFlawed();
    this.flawed = { flaw, line: this.line, offset: this.offset, lines: 1 };
  }

  /** The first part of a line that is longer than any line may be. */
  skipBytes(count: number): void {
    if (!this.skipping) {
      this.line++;
      this.bad('corrupt');
      this.line--;
    }
    this.skipping = true;
    this.offset += count;
  }

  end(restBytes: number): void {
    if (this.flawed) this.reportFlawed();
    if (restBytes === 0) return;
    this.defect('torn-tail', `the last line is incomplete (${restBytes} bytes)`, this.line + 1, this.offset);
  }

  shrunk(): void {
    this.defect('corrupt', 'the file is shorter than when it was read before', undefined, this.offset);
  }

  unreadable(error: Error): void {
    if (this.flawed) this.reportFlawed();
    this.defect('unreadable', error.message);
  }

  report(): ScanReport {
    return { events: this.events, defects: this.defects, end: this.lastUsable };
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
export function readLineAt(files: OpenFiles, path: string, { offset, bytes }: Position): JournalEvent | undefined {
  const start = PREDECESSOR_HASH_BYTES;
  const before = Math.min(offset, PREDECESSOR_HASH_BYTES);
  const buffer = Buffer.allocUnsafe(start + bytes + 1);
  const count = readOrNothing(files, path, buffer, start - before, offset - before);
  const end = start + bytes;
  if (count < before + bytes + 1 || buffer[end] !== NEWLINE) return undefined;
  const previous = offset === 0 ? CHAIN_SEED : buffer.toString('latin1', 0, ROOM_BEFORE_LINE);
  const event = decode(buffer, { start, end }, { previous, own: storedHash(buffer, start, end) });
  return typeof event === 'string' ? undefined : event;
}

function readOrNothing(files: OpenFiles, path: string, buffer: Buffer, start: number, position: number): number {
  try {
    return files.read(path, buffer, start, position);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return 0;
  }
}
