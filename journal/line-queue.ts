/** Holds the lines that wait to be written, as they will be in the file, each hashed behind the one before it. */
import { CHAIN_SEED, encodeInto, LINE_BYTES_MAX, lineBytesMax, lineOf, predecessorEnd, PREDECESSOR_BYTES } from './codec.js';
import { JournalError } from './errors.js';

const CAPACITY = 256 * 1024;
/** UTF-16 units. A longer line is put together in the queue's memory, a shorter one as a string. */
const LONG_UNITS_MIN = 1024;

export class LineQueue {
  private readonly usual = Buffer.allocUnsafe(PREDECESSOR_BYTES + CAPACITY);
  /** `usual`, or a larger one for a line that doesn't fit into that. */
  private bytes: Buffer = this.usual;
  private end: number;

  /** `lastHash` is that of the line before the first. */
  constructor(private lastHash = CHAIN_SEED) {
    this.end = this.bytes.write(predecessorEnd(lastHash), 'latin1');
  }

  /** The hash of the last line that was added. */
  get hash(): string {
    return this.lastHash;
  }

  /** The number of bytes that wait. */
  get length(): number {
    return this.end - PREDECESSOR_BYTES;
  }

  /**
   * Adds the line with this body and returns its length in bytes; 0 when it doesn't fit, as it will once the queue was taken. Throws
   * `JOURNAL_EVENT_TOO_LARGE`. In both cases the queue is unchanged.
   */
  add(body: string): number {
    if (lineBytesMax(body) > this.bytes.length - this.end) {
      if (this.length > 0) return 0;
      this.moveTo(Buffer.allocUnsafe(PREDECESSOR_BYTES + lineBytesMax(body)));
    }
    if (body.length >= LONG_UNITS_MIN) return this.addLong(body);
    const { text, hash } = lineOf(body, this.lastHash);
    const bytes = this.bytes.write(text, this.end);
    this.end += bytes;
    this.lastHash = hash;
    return bytes;
  }

  private addLong(body: string): number {
    const { end, hash } = encodeInto(this.bytes, this.end, body);
    const bytes = end - this.end;
    if (bytes > LINE_BYTES_MAX) {
      throw new JournalError('JOURNAL_EVENT_TOO_LARGE', `an event of ${bytes} bytes; at most ${LINE_BYTES_MAX} fit into the journal`);
    }
    this.end = end;
    this.lastHash = hash;
    return bytes;
  }

  /** Returns all lines, and empties the queue. They must be used before the next `add`. */
  take(): Uint8Array {
    const lines = this.bytes.subarray(PREDECESSOR_BYTES, this.end);
    this.moveTo(this.usual);
    return lines;
  }

  /** Keeps nothing but the end of the last line, which the next one is hashed with. */
  private moveTo(bytes: Buffer): void {
    this.bytes.copy(bytes, 0, this.end - PREDECESSOR_BYTES, this.end);
    this.bytes = bytes;
    this.end = PREDECESSOR_BYTES;
  }
}
