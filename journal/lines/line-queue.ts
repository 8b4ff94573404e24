/** Holds the lines that wait to be written, as they will be in the file, each hashed behind the one before it. */
import {
  BYTES_PER_UNIT_MAX,
  bytesMaxOf,
  bytesOf,
  CHAIN_SEED,
  encodeInto,
  LINE_BYTES_MAX,
  lineOf,
  type LongBody,
  predecessorEnd,
  PREDECESSOR_BYTES,
  TAIL_AND_NEWLINE_BYTES,
} from '../codec.js';
import { JournalError } from '../errors.js';
import { writeUtf8 } from './write-text.js';

const CAPACITY = 256 * 1024;
/** So much memory is kept for further lines once its own are released. */
const SPARE_MAX = 16;

export class LineQueue {
  /** Holds lines that were taken before those that wait. When it is full, the next lines are put into other memory. */
  private bytes: Buffer = Buffer.allocUnsafe(PREDECESSOR_BYTES + CAPACITY);
  /** Memory that is full and not known to be released, in the order of its lines. */
  private full: Buffer[] = [];
  /** Memory of the usual size whose lines are all released. To get new memory costs the system more than to copy lines into it. */
  private spare: Buffer[] = [];
  private start = PREDECESSOR_BYTES;
  private end: number;

  /** `hash` is that of the last line that was added; at first that of the line before all of them. */
  constructor(public hash = CHAIN_SEED) {
    this.end = this.bytes.write(predecessorEnd(hash), 'latin1');
  }

  /** The number of bytes that wait. */
  get length(): number {
    return this.end - this.start;
  }

  /**
   * Adds the line with this body and returns its length in bytes; 0 when it doesn't fit, as it will once the queue was taken. Throws
   * `JOURNAL_EVENT_TOO_LARGE`. In both cases the queue is unchanged.
   */
  add(body: string | LongBody): number {
    const isShort = typeof body === 'string';
    const bytesMax = isShort ? body.length * BYTES_PER_UNIT_MAX + TAIL_AND_NEWLINE_BYTES : bytesMaxOf(body);
    if (bytesMax > this.bytes.length - this.end) {
      if (this.length > 0) return 0;
      this.moveTo(bytesMax > CAPACITY && !isShort ? bytesOf(body) : CAPACITY);
    }
    if (!isShort) return this.addLong(body);
    const { text, hash } = lineOf(body, this.hash);
    const bytes = writeUtf8(this.bytes, text, this.end);
    this.end += bytes;
    this.hash = hash;
    return bytes;
  }

  private addLong(body: LongBody): number {
    const { end, hash } = encodeInto(this.bytes, this.end, body);
    const bytes = end - this.end;
    if (bytes > LINE_BYTES_MAX) {
      throw new JournalError(
        'JOURNAL_EVENT_TOO_LARGE',
        `an event has ${bytes} bytes, and a line of the journal holds at most ${LINE_BYTES_MAX}`,
      );
    }
    this.end = end;
    this.hash = hash;
    return bytes;
  }

  /** Returns all lines, and empties the queue. No later line overwrites them before they are released, so they need no copy. */
  take(): Uint8Array {
    const lines = this.bytes.subarray(this.start, this.end);
    this.start = this.end;
    return lines;
  }

  /** Says that these lines are not read any more, nor any that were taken before: their memory is used again. */
  release(lines: Uint8Array | undefined): void {
    while (lines && this.full.length > 0 && this.full[0]?.buffer !== lines.buffer) {
      const released = this.full.shift() as Buffer;
      if (released.length === PREDECESSOR_BYTES + CAPACITY && this.spare.length < SPARE_MAX) this.spare.push(released);
    }
  }

  /** Continues in other memory, and takes nothing into it but the end of the last line, which the next one is hashed with. */
  private moveTo(capacity: number): void {
    const bytes = (capacity === CAPACITY && this.spare.pop()) || Buffer.allocUnsafe(PREDECESSOR_BYTES + capacity);
    this.bytes.copy(bytes, 0, this.end - PREDECESSOR_BYTES, this.end);
    this.full.push(this.bytes);
    this.bytes = bytes;
    this.start = this.end = PREDECESSOR_BYTES;
  }
}
