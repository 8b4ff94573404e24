/**
 * Collects what a program writes to one of its streams into one text.
 *
 * PROCESS-OUTPUT-1 A few megabytes are held in memory. With a journal, the rest goes to a file of it while it arrives. A kill leaves that
 *    file without a name (`journal/storage/blob-writer.ts`, BLOB-1).
 * PROCESS-OUTPUT-2 When the disk takes no more of it, the rest is held in memory, as all is without a file, up to the largest size of a
 *    text.
 */
import type { BlobWriter, StoredBlob } from '../../../journal/storage/blob-writer.js';
import { TEXT_BYTES_MAX } from '../../../journal/payloads.js';
import { WorldError } from '../world.js';

/** Limits a program's standard output. */
export const OUTPUT_BYTES_MAX = 1024 * 1024 * 1024;
/** Limits its standard error, and what code in this process logs. */
export const LOG_BYTES_MAX = 64 * 1024 * 1024;
const HELD_BYTES_MAX = 16 * 1024 * 1024;

export class Output {
  private chunks: Buffer[] = [];
  private sizeBytes = 0;
  private file: BlobWriter | undefined;
  private isFileBroken = false;

  /** `newFile` makes the file for large output; without it there is only memory. */
  constructor(
    private readonly bytesMax: number,
    private readonly newFile?: () => BlobWriter,
  ) {}

  /** The largest size that is accepted now. */
  get limitBytes(): number {
    return this.newFile && !this.isFileBroken ? this.bytesMax : Math.min(this.bytesMax, TEXT_BYTES_MAX);
  }

  /** Returns false when it is too much; then nothing is kept. */
  add(chunk: Buffer): boolean {
    this.sizeBytes += chunk.length;
    this.chunks.push(chunk);
    if (this.newFile && this.sizeBytes > HELD_BYTES_MAX) this.moveToFile(this.newFile);
    if (this.sizeBytes <= this.limitBytes) return true;
    this.drop();
    return false;
  }

  /** Discards what was collected. */
  drop(): void {
    this.chunks = [];
    void this.file?.discard();
  }

  /** Returns the text, or a file that has to be kept or discarded because no text can be so large. To be called once. */
  async end(): Promise<string | BlobWriter> {
    const { file, chunks } = this;
    this.chunks = [];
    if (!file) return (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('utf8');
    if (this.sizeBytes > TEXT_BYTES_MAX) return file;
    const written = await file.read();
    await file.discard();
    return (chunks.length === 0 ? written : Buffer.concat([written, ...chunks])).toString('utf8');
  }

  /** PROCESS-OUTPUT-2 */
  private moveToFile(newFile: () => BlobWriter): void {
    if (this.isFileBroken) return;
    try {
      this.file ??= newFile();
      for (let chunk = this.chunks[0]; chunk; chunk = this.chunks[0]) {
        this.file.write(chunk);
        this.chunks.shift();
      }
    } catch {
      this.isFileBroken = true;
    }
  }
}

export function outputTooLarge(writer: 'the command' | 'the code', stream: string, limitBytes: number): WorldError {
  return new WorldError(
    'OUTPUT_TOO_LARGE',
    `${writer} wrote more than ${Math.ceil(limitBytes / 1024 / 1024)} MiB to ${stream}; nothing of it was kept`,
    { hint: `let ${writer} write to a file and load what is needed of it` },
  );
}

/** The output was recorded but is too large for a script. The error is the same whenever the recorded result is reused. */
export class OutputExceedsText extends WorldError {
  constructor(readonly kept: StoredBlob) {
    super(
      'OUTPUT_EXCEEDS_TEXT',
      `the command wrote ${kept.bytes} bytes, and a text can have ${TEXT_BYTES_MAX}; the output is kept in the journal as blob ${kept.blob}`,
      { hint: 'let the command write to a file and load what is needed of it; --resume with the name of the function executes it again' },
    );
  }
}

/** Finds it among the causes of an error. */
export function exceedingOutput(error: unknown): OutputExceedsText | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof OutputExceedsText) return cause;
  return undefined;
}
