/**
 * Writes a run to its first file, or to the next segment when that can't be continued (`segments.ts`). Knows the offset in the file of
 * each byte of the run, so writing the same bytes again is harmless.
 *
 * RUN-FILE-1 The lock exists before the first file: a process that sees the run sees that it is alive.
 * RUN-FILE-2 After the rename of a new segment nothing is written to the file before it any more: readers don't read it.
 * RUN-FILE-3 A file that was deleted while it is written takes everything and keeps nothing: each sync looks if it has a name, and fails
 *    without one.
 */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { syncFile, writeAll, type Disk } from '../disk.js';
import { codeOf } from '../../errors.js';
import { headOf, lastSegment, segmentPath } from '../../segments.js';
import type { RunSink } from './run-sink.js';
import type { ScanReport } from '../../store.js';
import { Unsynced } from '../../lines/unsynced.js';

/** With these errors, another file on the same disk wouldn't help. */
const DISK_IS_FULL = new Set(['ENOSPC', 'EDQUOT']);

export class RunFiles implements RunSink {
  readonly survivesFrom = 'write';
  private file: number | undefined;
  private segment = 1;
  /** The offset in the run at which the lines of the file begin. */
  private from = 0;
  /** The offset in the file at which its lines begin. */
  private head = 0;
  private isNameDurable = false;
  /** The file system counts the names of the file. */
  private countsNames = false;
  /** The offset in the run up to which the file holds it, durable or not; after a failed sync, up to which it can be trusted to. */
  private written = 0;
  /** The offset in the run up to which whole lines were written, trusted or not. They may be all that is left of a result, so they stay. */
  private held = 0;

  /** `path` is that of the first file; `prepare` makes the folder and the lock, and is called again after it has failed. */
  constructor(
    private readonly disk: Disk,
    private readonly path: string,
    private readonly prepare: () => Promise<void>,
  ) {}

  /**
   * Takes up the files of a run at the end of its last whole line (REOPEN-2, REOPEN-3). Rejects with what the disk did; then the run is as
   * it was.
   */
  static async reopen(disk: Disk, path: string, end: ScanReport['end']): Promise<RunFiles> {
    const files = new RunFiles(disk, path, async () => undefined);
    const last = lastSegment(disk, path);
    files.file = disk.openToContinue(segmentPath(path, last.segment));
    Object.assign(files, { ...last, written: end.offset, held: end.offset });
    try {
      await syncFile(disk, files.file);
      await files.begin();
      const isTorn = disk.sizeOf(files.file) !== end.offset - last.from + last.head;
      if (isTorn) await files.beginSegment(new Unsynced(end.offset, end.hash));
      return files;
    } catch (error) {
      files.close();
      throw error;
    }
  }

  /** Makes the first file, or makes the name of the present one durable. Called again, it does the rest. */
  async begin(): Promise<void> {
    if (this.file === undefined) {
      await this.prepare();
      this.file = this.disk.create(this.path);
    }
    if (!this.isNameDurable) await this.disk.syncFolder(dirname(this.path));
    this.isNameDurable = true;
    this.countsNames ||= !this.disk.isNameless(this.file);
  }

  get hasBegun(): boolean {
    return this.file !== undefined;
  }

  /** The offset in the run up to which the file holds it, durable or not. */
  get writtenBytes(): number {
    return this.written;
  }

  /** Continues the file. Throws what the disk throws; then the file holds some of it. */
  write(bytes: Uint8Array): void {
    writeAll(this.disk, this.opened(), bytes, this.written - this.from + this.head);
    this.written += bytes.length;
    this.held = Math.max(this.held, this.written);
  }

  sync(done: (error: Error | null) => void): void {
    const file = this.opened();
    this.disk.sync(file, (error) => done(error ?? this.deleted(file)));
  }

  /** RUN-FILE-3 */
  private deleted(file: number): Error | null {
    if (!this.countsNames || file !== this.file) return null;
    try {
      if (!this.disk.isNameless(file)) return null;
    } catch (error) {
      return error as Error;
    }
    return Object.assign(new Error(`ENOENT: ${this.path} was deleted while the run is recorded in it`), { code: 'ENOENT' });
  }

  /** Must be called after a failed sync: the system may have lost what was written since the last one, so it is written again. */
  distrust(unsynced: Unsynced): void {
    this.written = Math.min(this.written, unsynced.start);
  }

  /** The disk may be mended meanwhile, whatever it said. */
  isFinal(): boolean {
    return false;
  }

  /** Writes and syncs what isn't durable: in the file, or else in a new segment. Rejects with what the disk did to the file. */
  async recover(unsynced: Unsynced): Promise<void> {
    try {
      await this.begin();
      for (const { bytes } of unsynced.from(this.written)) this.write(bytes);
      await this.synced(unsynced);
    } catch (error) {
      if (this.file === undefined || DISK_IS_FULL.has(codeOf(error) ?? '')) throw error;
      await this.beginSegment(unsynced).catch(() => {
        throw error;
      });
    }
  }

  /** SEGMENT-2 */
  private async beginSegment(unsynced: Unsynced): Promise<void> {
    const segment = this.segment + 1;
    const path = segmentPath(this.path, segment);
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    const next = new RunFiles(this.disk, this.path, this.prepare);
    const head = headOf(segment, unsynced.start, unsynced.hashBefore);
    next.file = this.disk.create(temporary);
    next.written = next.held = next.from = unsynced.start;
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
    const { file, from, written, held } = next;
    Object.assign(this, { file, segment, from, head: next.head, written, held, isNameDurable: false });
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

  /** Cuts off what a failed write left behind the last line. When that fails, readers find a torn tail. */
  cut(): void {
    try {
      if (this.file !== undefined) this.disk.cut(this.file, this.held - this.from + this.head);
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
