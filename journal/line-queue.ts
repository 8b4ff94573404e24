/** Lines that wait to be written, as they will stand in the file: each hashed behind the one before it, and copied no more. */
import { CHAIN_SEED, encodeInto, LINE_BYTES_MAX, lineBytesMax, predecessorEnd, PREDECESSOR_BYTES, type Draft } from './codec.js';
import { JournalError } from './errors.js';

const CAPACITY = 256 * 1024;

export class LineQueue {
  private readonly usual = Buffer.allocUnsafe(PREDECESSOR_BYTES + CAPACITY);
  /** `usual`, or a larger one for a line that doesn't fit into that. */
  private bytes: Buffer = this.usual;
  private end = this.bytes.write(predecessorEnd(CHAIN_SEED), 'latin1');

  /** Bytes that wait. */
  get length(): number {
    return this.end - PREDECESSOR_BYTES;
  }

  fits(draft: Draft): boolean {
    return lineBytesMax(draft) <= this.bytes.length - this.end;
  }

  /** Bytes of the line. A line that doesn't fit may be added to an empty queue. Throws `JOURNAL_EVENT_TOO_LARGE`, and the queue is what it was. */
  add(draft: Draft): number {
    if (!this.fits(draft)) this.moveTo(Buffer.allocUnsafe(PREDECESSOR_BYTES + lineBytesMax(draft)));
    const end = encodeInto(this.bytes, this.end, draft);
    const bytes = end - this.end;
    if (bytes > LINE_BYTES_MAX) {
      throw new JournalError('JOURNAL_EVENT_TOO_LARGE', `an event of ${bytes} bytes; at most ${LINE_BYTES_MAX} fit into the journal`);
    }
    this.end = end;
    return bytes;
  }

  /** All lines, and empties the queue. To be used before the next `add`. */
  take(): Uint8Array {
    const lines = this.bytes.subarray(PREDECESSOR_BYTES, this.end);
    this.moveTo(this.usual);
    return lines;
  }

  /** Leaves nothing behind but the end of the last line, which the next one is hashed with. */
  private moveTo(bytes: Buffer): void {
    this.bytes.copy(bytes, 0, this.end - PREDECESSOR_BYTES, this.end);
    this.bytes = bytes;
    this.end = PREDECESSOR_BYTES;
  }
}
