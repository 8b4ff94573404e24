/**
 * Writes to standard output and standard error without the streams of Node, which take longer to load than a short script to run. Like
 * those on files, pipes and terminals it returns when the text is written.
 */
import fs from 'node:fs';

/** A slow reader's pipe is full; the write is tried again after this time. */
const RETRY_MS = 2;

/** Throws the error of the system: EPIPE when the reader is gone, ENOSPC, EIO. */
export function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  for (let written = 0; written < bytes.length;) {
    try {
      written += fs.writeSync(descriptor, bytes, written);
    } catch (error) {
      // Another process that shares the pipe or terminal may have made it non-blocking.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
