/**
 * Files that stay open for a moment after they were read, because results are read one by one from the same few runs and opening
 * a file costs more than reading a line. They are closed after a second of rest, and the longest unused when there are too many.
 */
import type { Disk } from './disk.js';

const OPEN_MAX = 8;
const REST_MS = 1000;

export class OpenFiles {
  /** In the order of last use. */
  private readonly files = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly disk: Disk) {}

  /** Fills `into` from `start` on; the number of bytes that were there. */
  read(path: string, into: Uint8Array, start: number, position: number): number {
    const file = this.open(path);
    let end = start;
    while (end < into.length) {
      const count = this.disk.read(file, into, end, into.length - end, position + end - start);
      if (count === 0) break;
      end += count;
    }
    return end - start;
  }

  private open(path: string): number {
    const known = this.files.get(path);
    const file = known ?? this.disk.openToRead(path);
    this.files.delete(path);
    this.files.set(path, file);
    if (this.files.size > OPEN_MAX) this.closeOldest();
    if (this.timer) this.timer.refresh();
    else this.timer = setTimeout(() => this.closeAll(), REST_MS).unref();
    return file;
  }

  private closeOldest(): void {
    for (const [path, file] of this.files) {
      this.files.delete(path);
      this.disk.close(file);
      return;
    }
  }

  private closeAll(): void {
    this.timer = undefined;
    for (const file of this.files.values()) this.disk.close(file);
    this.files.clear();
  }
}
