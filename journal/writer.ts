/**
 * The only writer of one run.
 *
 * J1 `seq` is 0, 1, 2, … in the order of the calls to `post` and `append`, and so are the lines in the file.
 * J2 Everything goes through one queue, so no line reaches the kernel before one that was queued earlier.
 * J3 `append` resolves only after what `DURABILITY` promises: `written` after the write that held the line, `synced` after an
 *    fdatasync that began after that write, `ordered` at once.
 * J4 One fdatasync at a time, for all that was written before it began; who comes meanwhile shares the next one. No timer:
 *    the disk sets the size of a commit.
 * J5 An error is final. After the first failed write or sync nothing is written any more, every waiting and every later `append`
 *    rejects with it, and what lies in the file is a prefix of what was queued. A rejected fact may still be found there.
 * J6 What a failed write left behind is cut off again; where even that fails, readers find a torn tail.
 */
import { bodyOf } from './codec.js';
import { writeAll, type Disk } from './disk.js';
import { journalError } from './errors.js';
import { DURABILITY, type Fact } from './event.js';
import { seqOf, type RunRef } from './ids.js';
import { LineQueue } from './line-queue.js';
import type { Journal, Recorded } from './store.js';

/** How long an ordered fact may wait for company. */
const ORDERED_DELAY_MS = 2;

interface Waiter {
  readonly recorded: Recorded;
  resolve(recorded: Recorded): void;
  reject(error: Error): void;
}

export class RunWriter implements Journal {
  private readonly queue = new LineQueue();
  private writtenBytes = 0;
  private syncedBytes = 0;
  private nextSeq = 0;
  private awaitingWrite: Waiter[] = [];
  private awaitingSync: Waiter[] = [];
  private syncing = false;
  private onSynced: (() => void) | undefined;
  private turnEndsWithWrite = false;
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;
  private closing: Promise<void> | undefined;
  private readonly clock = isoClock();

  /** `file` is empty, open for writing, and belongs to the writer from now on; `release` is called once it is closed. */
  constructor(
    readonly ref: RunRef,
    private readonly disk: Disk,
    private readonly file: number,
    private readonly release: () => Promise<void>,
  ) {}

  post(fact: Fact): Recorded {
    try {
      const recorded = this.enqueue(fact);
      this.writeSoon();
      return recorded;
    } catch (error) {
      // Nobody waits for this one; leaving it out silently would make the journal a lie (J5).
      if (!this.failure && !this.closing) this.fail(error);
      return { seq: seqOf(this.nextSeq), ts: this.clock(), position: { offset: this.endOffset(), bytes: 0 } };
    }
  }

  append(fact: Fact, placed?: (recorded: Recorded) => void): Promise<Recorded> {
    let recorded: Recorded;
    try {
      recorded = this.enqueue(fact);
    } catch (error) {
      return Promise.reject(error);
    }
    placed?.(recorded);
    const durability = DURABILITY[fact.type];
    if (durability === 'ordered') {
      this.writeSoon();
      return Promise.resolve(recorded);
    }
    return new Promise((resolve, reject) => {
      (durability === 'written' ? this.awaitingWrite : this.awaitingSync).push({ recorded, resolve, reject });
      this.writeThisTurn();
    });
  }

  flush(): Promise<void> {
    this.writeQueue();
    return this.failure ? Promise.reject(this.failure) : Promise.resolve();
  }

  close(): Promise<void> {
    this.closing ??= this.finish().catch((error: unknown) => {
      throw journalError(error, this.task());
    });
    return this.closing;
  }

  private async finish(): Promise<void> {
    this.endTurn();
    if (this.syncing) await this.nextSync();
    if (!this.failure && this.syncedBytes < this.writtenBytes) {
      this.sync();
      await this.nextSync();
    }
    try {
      this.disk.close(this.file);
    } finally {
      await this.release();
    }
    if (this.failure) throw this.failure;
  }

  /** Gives the fact its place. Throws when it can't be a line, or when the writer has failed. */
  private enqueue(fact: Fact): Recorded {
    if (this.failure) throw this.failure;
    if (this.closing) throw new Error(`run ${this.ref.run} is closed`);
    const seq = seqOf(this.nextSeq);
    const ts = this.clock();
    const body = bodyOf(fact, seq, ts);
    let bytes = this.queue.add(body);
    if (bytes === 0) {
      this.writeQueue();
      if (this.failure) throw this.failure;
      bytes = this.queue.add(body);
    }
    this.nextSeq++;
    return { seq, ts, position: { offset: this.endOffset() - bytes, bytes: bytes - 1 } };
  }

  private writeQueue(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.queue.length === 0) return;
    const lines = this.queue.take();
    try {
      writeAll(this.disk, this.file, lines);
      this.writtenBytes += lines.length;
    } catch (error) {
      this.fail(error);
    }
  }

  private writeSoon(): void {
    this.timer ??= setTimeout(() => this.writeQueue(), ORDERED_DELAY_MS);
  }

  /** After the microtasks that are due now, so that calls which were released together are written together. */
  private writeThisTurn(): void {
    if (this.turnEndsWithWrite) return;
    this.turnEndsWithWrite = true;
    process.nextTick(() => this.endTurn());
  }

  private endTurn(): void {
    this.turnEndsWithWrite = false;
    this.writeQueue();
    const written = this.awaitingWrite;
    this.awaitingWrite = [];
    for (const { recorded, resolve } of written) resolve(recorded);
    if (this.awaitingSync.length === 0 || this.syncing) return;
    if (written.length === 0) this.sync();
    else this.endNextTurn(); // who was just released may have something to be synced as well
  }

  private endNextTurn(): void {
    setImmediate(() => this.endTurn());
  }

  private sync(): void {
    this.syncing = true;
    const covered = this.awaitingSync;
    const coveredBytes = this.writtenBytes;
    this.awaitingSync = [];
    this.disk.sync(this.file, (error) => {
      this.syncing = false;
      if (error) {
        this.awaitingSync = covered.concat(this.awaitingSync);
        this.fail(error);
      } else {
        this.syncedBytes = coveredBytes;
        for (const { recorded, resolve } of covered) resolve(recorded);
        if (this.awaitingSync.length > 0) this.endNextTurn(); // so that those who were just released can join those who came meanwhile
      }
      this.onSynced?.();
    });
  }

  /** Resolves after the sync that is under way, failed or not. */
  private nextSync(): Promise<void> {
    return new Promise((resolve) => {
      this.onSynced = resolve;
    });
  }

  private fail(cause: unknown): void {
    if (this.failure) return;
    const failure = journalError(cause, this.task());
    this.failure = failure;
    this.queue.take();
    try {
      this.disk.cut(this.file, this.writtenBytes);
    } catch {
      // J6: the tail stays torn; the first error is the one to tell.
    }
    for (const { reject } of [...this.awaitingWrite, ...this.awaitingSync]) reject(failure);
    this.awaitingWrite = [];
    this.awaitingSync = [];
  }

  private endOffset(): number {
    return this.writtenBytes + this.queue.length;
  }

  private task(): string {
    return `write run ${this.ref.run} of ${this.ref.workflow}`;
  }
}

/** ISO time, formatted at most once per millisecond. */
function isoClock(): () => string {
  let lastMs = NaN;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== lastMs) {
      lastMs = nowMs;
      text = new Date(nowMs).toISOString();
    }
    return text;
  };
}
