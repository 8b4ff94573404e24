/**
 * Writes a blob in pieces, because it is too large to be held in memory.
 *
 * BLOB-1 It is written to a temporary file of the journal's folder; only `keep` gives it its name, durable, when all of it is on disk. A
 *    kill before leaves the temporary file and no event that names it; `journal gc` and `journal redact` remove it when no run is in
 *    flight.
 */
import { createHash, randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { makeDurableFolder, syncFile, writeAll, type Disk } from './disk.js';
import { journalError } from '../errors.js';
import type { BlobId } from '../ids.js';
import { blobPath } from './layout.js';

export interface StoredBlob {
  readonly blob: BlobId;
  readonly bytes: number;
}

export interface BlobWriter {
  /** Throws what the disk throws; then nothing more may be written, and `read` returns the pieces before. */
  write(piece: Uint8Array): void;
  /** Returns what was written. */
  read(): Promise<Uint8Array>;
  /** Ends the blob, durable under its name. */
  keep(): Promise<StoredBlob>;
  /** Ends the blob and removes what was written. */
  discard(): Promise<void>;
}

/** The folder must exist when the first piece is written. */
export function createBlobWriter(disk: Disk, journal: string): BlobWriter {
  // No workflow's folder has capitals in its name.
  const temporary = join(journal, `BLOB-${randomBytes(6).toString('hex')}.tmp`);
  const hash = createHash('sha256');
  let file: number | undefined;
  let bytes = 0;

  const close = (): void => {
    if (file !== undefined) disk.close(file);
    file = undefined;
  };
  const discard = async (): Promise<void> => {
    close();
    await disk.remove(temporary).catch(() => undefined); // a leftover is harmless
  };

  return {
    write(piece) {
      file ??= disk.create(temporary);
      writeAll(disk, file, piece);
      hash.update(piece);
      bytes += piece.length;
    },
    async read() {
      return bytes === 0 ? Buffer.alloc(0) : (await disk.readWhole(temporary)).subarray(0, bytes); // part of a failed piece may follow
    },
    async keep() {
      const blob = `sha256:${hash.digest('hex')}` as BlobId;
      const path = blobPath(journal, blob);
      try {
        file ??= disk.create(temporary);
        await syncFile(disk, file);
        close();
        await makeDurableFolder(disk, dirname(path));
        await disk.rename(temporary, path); // a file of that name has the same bytes, or is damaged
        await disk.syncFolder(dirname(path));
      } catch (error) {
        await discard();
        throw journalError(error, `store a result of ${bytes} bytes`);
      }
      return { blob, bytes };
    },
    discard,
  };
}
