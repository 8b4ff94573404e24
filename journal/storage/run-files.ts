/**
 * The file that a run is being written to: its first one, or the segment in which it goes on when that can't be continued
 * (`segments.ts`). Knows where in the file each byte of the run belongs, so writing the same bytes again is harmless.
 *
 * RUN-FILE-1 The lock is there before the first file: who sees the run sees that it is alive.
 * RUN-FILE-2 After the rename of a new segment nothing is written to the file before it any more: readers don't look there.
 */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { writeAll, type Disk } from './disk.js';
import { codeOf } from '../errors.js';
import { headOf, segmentPath } from '../segments.js';
import type { Unsynced } from '../unsynced.js';

/** Another file on the same disk wouldn't help. */
const DISK_IS_FULL = new Set(['ENOSPC', 'EDQUOT']);

export class RunFiles {
  private file: number | undefined;
  private segment = 1;
  /** Of the run: where the lines of the file begin. */
  private from = 0;
  /** Of the file: where its lines begin. */
  private head = 0;
  private isNameDurable = false;
  /** Of the run: up to here the file holds it, durable or not. */
  private written = 0;

  /** `path` is that of the first file; `prepare` makes the folder and the lock, and is called again after it has failed. */
  constructor(
    private readonly disk: Disk,
    private readonly path: string,
    private readonly prepare: () => Promise<void>,
  ) {}

  /** Makes the first file, or makes the name of the present one durable. Does what is left to do when it is called again. */
  async begin(): Promise<void> {
    if (this.file === undefined) {
      await this.prepare();
      this.file = this.disk.create(this.path);
    }
    if (!this.isNameDurable) await this.disk.syncFolder(dirname(this.path));
    this.isNameDurable = true;
  }

  get hasBegun(): boolean {
    return this.file !== undefined;
  }

  /** Of the run: up to here the file holds it, durable or not. */
  get writtenBytes(): number {
    return this.written;
  }

  /** Continues the file. Throws what the disk throws; then the file holds some of it. */
  write(bytes: Uint8Array): void {
    writeAll(this.disk, this.opened(), bytes, this.written - this.from + this.head);
    this.written += bytes.length;
  }

  sync(done: (error: Error | null) => void): void {
    this.disk.sync(this.opened(), done);
  }

  /** After a failed sync the system may have dropped what was written since the last one, so it is written again. */
  distrust(unsynced: Unsynced): void {
    this.written = Math.min(this.written, unsynced.start);
  }

  /** Writes and syncs what isn't durable: in the file, or else in a new segment. Rejects with what the disk did to the file. */
  async recover(unsynced: Unsynced): Promise<void> {
    try {
      await this.begin();
      for (const { bytes } of unsynced.from(this.written)) this.write(bytes);
      await this.synced(unsynced);
    } catch (error) {
      if (this.file === undefined || DISK_IS_FULL.has(codeOf(error) ?? '')) throw error;
      await this.goOn(unsynced).catch(() => {
        throw error;
      });
    }
  }

  /** SEGMENT-2 */
  private async goOn(unsynced: Unsynced): Promise<void> {
    const segment = this.segment + 1;
    const path = segmentPath(this.path, segment);
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    const next = new RunFiles(this.disk, this.path, this.prepare);
    const head = headOf(segment, unsynced.start, unsynced.hashBefore);
    next.file = this.disk.create(temporary);
    next.written = next.from = unsynced.start;
    next.head = head.length;
    try {
      writeAll(this.disk, next.file, head, 0);
      for (const { bytes } of unsynced.from(next.written)) next.write(bytes);
      await next.synced(unsynced);
      await this.disk.rename(temporary, path);
    } catch (error) {
      next.close();
      await this.disk.remove(temporary).catch(() => undefined); // the first error is the one to report
      throw error;
    }
    this.close();
    Object.assign(this, { file: next.file, segment, from: next.from, head: next.head, written: next.written, isNameDurable: false });
    await this.begin();
  }

  private synced(unsynced: Unsynced): Promise<void> {
    return new Promise((resolve, reject) => {
      this.sync((error) => {
        if (error === null) return resolve();
        this.distrust(unsynced);
        reject(error);
      });
    });
  }

  /** Cuts off what a failed write left behind the last line. Where that fails, readers find a torn tail. */
  cut(): void {
    try {
      if (this.file !== undefined) this.disk.cut(this.file, this.written - this.from + this.head);
    } catch {
      // The first error is the one to report.
    }
  }

  close(): void {
    const { file } = this;
    this.file = undefined;
    if (file !== undefined) this.disk.close(file);
  }

  private opened(): number {
    if (this.file === undefined) throw new Error('the run has no file yet');
    return this.file;
  }
}
