/**
 * The only writer of one run.
 *
 * WRITER-1 `seq` is 0, 1, 2, … in the order of the calls to `post` and `append`, and so are the lines of the run.
 * WRITER-2 Everything passes through one queue, so no line reaches the kernel before one that was queued earlier.
 * WRITER-3 `append` resolves only after what `DURABILITY` promises: `written` after the write that held the line, `synced` after an
 *    fdatasync that began after that write, `ordered` at once.
 * WRITER-4 One fdatasync runs at a time, for all that was written before it began; facts that are appended meanwhile share the next one.
 *    There is no timer: the disk sets the size of a commit.
 * WRITER-5 A failed write or sync begins an outage. Lines are kept in memory until they are durable, so nothing is lost while it lasts:
 *    the writer tries again, ever more rarely, in the same file or in a new segment (`run-files.ts`), and `append` keeps its caller
 *    waiting. Facts that nothing paid depends on (`MAY_LAG`) resolve at once meanwhile. The order of lines never changes (WRITER-1).
 * WRITER-6 When the outage has lasted too long or too much is kept, the writer gives up: every waiting and every later `append` rejects
 *    with the error of the disk. Lines are still kept, new ones as long as there is room, and `close` tries once more; `run.finished`
 *    says how many had to be left out.
 * WRITER-7 A kill during an outage leaves what reached the files: a prefix of what was queued that holds everything acknowledged, and
 *    perhaps a torn line behind it.
 * WRITER-8 A fact that can't be a line, because it is too large or not JSON, loses only itself.
 * WRITER-9 To a sink that keeps lines only from a sync on (`RunSink.survivesFrom`), each write is followed by one; `written` waits for it.
 * WRITER-10 The memory of lines is used again only after a sync that covered them was acknowledged: until then they may be written again.
 * WRITER-11 To such a sink all that one turn of the event loop brings goes together: calls that end together begin the next ones together.
 */
import { bodyOf } from './codec.js';
import { journalError, type JournalError } from './errors.js';
import { DURABILITY, MAY_LAG, type Durability } from './durability.js';
import type { Fact } from './event.js';
import { seqOf, type RunRef, type Seq } from './ids.js';
import { LineQueue } from './lines/line-queue.js';
import type { RunSink } from './storage/runs/run-sink.js';
import type { OwnFact } from './own-fact.js';
import type { CreateOptions, Journal, Recorded, ScanReport } from './store.js';
import { Unsynced } from './lines/unsynced.js';

/** An ordered fact waits so long for others that can be written together with it. */
const ORDERED_DELAY_MS = 2;
/** Bytes that are kept for another try cost memory, so this many are synced even when no caller waits for them. */
const UNSYNCED_MAX = 4 * 1024 * 1024;
const KEPT_MAX = 64 * 1024 * 1024;
export const JOURNAL_WAIT_MS = 60_000;
/** A run that made no calls waits only so long at its end: it has nothing to lose but its own record. */
const CLOSE_WAIT_MS = 2000;
const RETRY_FIRST_MS = 10;
const RETRY_MAX_MS = 1000;

interface Waiter {
  readonly recorded: Recorded;
  readonly mayLag: boolean;
  resolve(recorded: Recorded): void;
  reject(error: Error): void;
}

interface Outage {
  readonly error: JournalError;
  readonly sinceMs: number;
}

export class RunWriter implements Journal {
  private readonly queue: LineQueue;
  private readonly unsynced: Unsynced;
  private nextSeq: Seq;
  /** The offset in the run at which the next line begins. */
  private nextOffset: number;
  private awaitingWrite: Waiter[] = [];
  private awaitingSync: Waiter[] = [];
  private syncing = false;
  private syncEnded: Promise<void> = Promise.resolve();
  private writesAtEndOfTick = false;
  private timer: NodeJS.Timeout | undefined;
  private outage: Outage | undefined;
  /** Resolves when the last outage is over. Until then only the recovery may use the sink. */
  private recovered: Promise<void> = Promise.resolve();
  private failure: JournalError | undefined;
  /** The number of facts that are in no line. */
  private lost = 0;
  /** Set when there was no room for a fact after the writer had given up: no later fact may have a line. */
  private isFull = false;
  private hasCalls = false;
  private waitMs: number;
  private closing: Promise<void> | undefined;
  private endWait: (() => void) | undefined;
  private readonly clock = isoClock();

  /**
   * `sink` belongs to the writer from now on; `release` is called once it is closed. `failed` is the reason why it could not be begun yet;
   * `end` is that of the last line that an earlier writer of the run left (`storage/runs/reopen-run.ts`).
   */
  constructor(
    readonly ref: RunRef,
    private readonly sink: RunSink,
    private readonly release: () => Promise<void>,
    private readonly options: CreateOptions = {},
    { failed, end }: { readonly failed?: unknown; readonly end?: ScanReport['end'] } = {},
  ) {
    this.queue = new LineQueue(end?.hash);
    this.unsynced = new Unsynced(end?.offset, end?.hash);
    this.nextSeq = seqOf(end === undefined ? 0 : end.seq + 1);
    this.nextOffset = end?.offset ?? 0;
    this.waitMs = options.waitMs ?? JOURNAL_WAIT_MS;
    if (failed !== undefined) this.beginOutage(failed);
  }

  post(fact: Fact): Recorded {
    try {
      const recorded = this.enqueue(fact);
      if (this.timer === undefined) this.writeSoon();
      return recorded;
    } catch (error) {
      if (!this.failure && !this.closing) this.options.onLost?.(journalError(error, this.task())); // WRITER-8: no caller waits for this one
      return { seq: this.nextSeq, ts: this.clock(), hash: '', position: { offset: this.nextOffset, bytes: 0 } };
    }
  }

  append(fact: Fact, placed?: (recorded: Recorded) => void): Promise<Recorded> {
    return this.appendAs(fact, DURABILITY[fact.type], MAY_LAG.has(fact.type), placed);
  }

  appendOwn(fact: OwnFact, durability: Durability): Promise<Recorded> {
    this.hasCalls = true; // there is something to lose
    return this.appendAs(fact, durability, false);
  }

  private appendAs(
    fact: Fact | OwnFact,
    durability: Durability,
    mayLag: boolean,
    placed?: (recorded: Recorded) => void,
  ): Promise<Recorded> {
    let recorded: Recorded;
    try {
      recorded = this.enqueue(fact);
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.failure) return Promise.reject(this.failure);
    placed?.(recorded);
    if (durability === 'ordered' || (this.outage && mayLag)) {
      this.writeSoon();
      return Promise.resolve(recorded);
    }
    return new Promise((resolve, reject) => {
      const waiters = durability === 'written' && this.survivesWrite() ? this.awaitingWrite : this.awaitingSync;
      waiters.push({ recorded, mayLag, resolve, reject });
      this.writeThisTick();
    });
  }

  async flush(): Promise<void> {
    this.writeQueue();
    const end = this.nextOffset;
    while (!this.survivesWrite() && !this.outage && !this.failure && this.unsynced.start < end) {
      if (!this.syncing) this.sync();
      await this.syncEnded;
    }
    if (this.outage) await this.recovered;
    if (this.failure) throw this.failure;
  }

  close(): Promise<void> {
    this.closing ??= this.finish().catch((error: unknown) => {
      throw journalError(error, this.task());
    });
    return this.closing;
  }

  private async finish(): Promise<void> {
    if (!this.hasCalls) this.waitMs = Math.min(this.waitMs, this.outageMs() + CLOSE_WAIT_MS);
    try {
      while (!this.failure) {
        this.endTick();
        this.endWait?.();
        if (this.outage) await this.recovered;
        else if (this.syncing) await this.syncEnded;
        else if (this.unsynced.start === this.nextOffset) break;
        else this.sync();
      }
      if (this.failure) await this.lastTry(this.failure);
    } finally {
      clearTimeout(this.timer);
      this.sink.cut();
      this.sink.close();
      await this.release();
    }
  }

  /** WRITER-6 */
  private async lastTry(failure: JournalError): Promise<void> {
    await this.recovered;
    await this.syncEnded;
    this.keepQueue();
    if (this.unsynced.start === this.unsynced.end) return;
    await this.sink.recover(this.unsynced).catch(() => {
      throw failure;
    });
    this.unsynced.synced(this.unsynced.end);
  }

  /** Queues the line of a fact. Throws when it can't be a line, or when there is no room for it after the writer has given up. */
  private enqueue(handed: Fact | OwnFact): Recorded {
    if (this.closing) throw new Error(`run ${this.ref.run} is closed`);
    const isLast = handed.type === 'run.finished';
    this.isFull ||= this.failure !== undefined && this.keptBytes() > KEPT_MAX;
    if (this.failure && this.isFull && !isLast) {
      this.lost++;
      throw this.failure;
    }
    const fact = isLast && this.lost > 0 ? { ...handed, lost: this.lost } : handed;
    const seq = this.nextSeq;
    const ts = this.clock();
    let bytes: number;
    try {
      const body = bodyOf(fact, seq, ts);
      bytes = this.queue.add(body);
      if (bytes === 0) {
        this.writeQueue();
        bytes = this.queue.add(body);
      }
    } catch (error) {
      this.lost++;
      throw error;
    }
    this.nextSeq++;
    if (fact.type === 'call.started') this.hasCalls = true;
    const position = { offset: this.nextOffset, bytes: bytes - 1 }; // by itself: V8 makes a literal in a literal many times slower
    this.nextOffset += bytes;
    return { seq, ts, hash: this.queue.hash, position };
  }

  private writeQueue(): void {
    this.keepQueue();
    if (this.failure) return;
    if (this.outage) {
      if (this.keptBytes() > KEPT_MAX) this.giveUp(this.outage.error);
      return;
    }
    try {
      for (const { bytes } of this.unsynced.from(this.sink.writtenBytes)) this.sink.write(bytes);
    } catch (error) {
      return this.beginOutage(error);
    }
    if (this.isSyncDue() && !this.syncing) this.sync();
  }

  private keepQueue(): void {
    if (this.queue.length > 0) this.unsynced.add(this.queue.take(), this.queue.hash);
  }

  private writeSoon(): void {
    // It is not called off when the lines are written before: to set and clear one for each write costs more than one that finds nothing.
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.writeQueue();
    }, this.sink.orderedDelayMs ?? ORDERED_DELAY_MS);
  }

  /** Writes after the microtasks that are due now, so that calls which were released together are written together. */
  private writeThisTick(): void {
    if (this.writesAtEndOfTick) return;
    this.writesAtEndOfTick = true;
    (this.survivesWrite() ? process.nextTick : setImmediate)(() => this.endTick()); // WRITER-11
  }

  private endTick(): void {
    this.writesAtEndOfTick = false;
    this.writeQueue();
    if (this.outage || this.failure) return;
    const written = this.awaitingWrite;
    this.awaitingWrite = [];
    for (const { recorded, resolve } of written) resolve(recorded);
    if (this.awaitingSync.length === 0 || this.syncing) return;
    if (written.length === 0) this.sync();
    else setImmediate(() => this.endTick()); // a caller that was just released may append something to be synced as well
  }

  private sync(): void {
    const covered = this.awaitingSync;
    const coveredBytes = this.sink.writtenBytes;
    let end = (): void => {};
    this.awaitingSync = [];
    this.syncing = true;
    this.syncEnded = new Promise((resolve) => (end = resolve));
    this.sink.sync((error) => {
      this.syncing = false;
      if (error) {
        this.awaitingSync = covered.concat(this.awaitingSync);
        this.sink.distrust(this.unsynced);
        this.beginOutage(error);
      } else {
        this.queue.release(this.unsynced.synced(coveredBytes)); // WRITER-10
        for (const { recorded, resolve } of covered) resolve(recorded);
        if (this.awaitingSync.length > 0 || this.isSyncDue()) setImmediate(() => this.endTick()); // so that callers that were just released can join
      }
      end();
    });
  }

  /** WRITER-5 */
  private beginOutage(cause: unknown): void {
    if (this.outage || this.failure) return;
    const error = journalError(cause, this.task());
    if (this.sink.isFinal(cause)) return this.giveUp(error);
    let end = (): void => {};
    this.recovered = new Promise<void>((resolve) => (end = resolve));
    this.outage = { error, sinceMs: performance.now() };
    this.releaseWaiters(({ mayLag }) => mayLag);
    void this.waitForDisk(error).then(end);
  }

  private async waitForDisk(first: JournalError): Promise<void> {
    let error = first;
    let isReported = false;
    for (let delayMs = RETRY_FIRST_MS; this.outage; delayMs = Math.min(2 * delayMs, RETRY_MAX_MS)) {
      const leftMs = this.waitMs - this.outageMs();
      if (leftMs <= 0) return this.giveUp(error);
      await this.wait(Math.min(delayMs, leftMs));
      await this.syncEnded; // it may have begun before the outage
      this.keepQueue();
      const { end } = this.unsynced;
      try {
        await this.sink.recover(this.unsynced);
      } catch (cause) {
        error = journalError(cause, this.task());
        if (this.sink.isFinal(cause)) return this.giveUp(error);
        if (!isReported && this.outageMs() >= Math.min(RETRY_MAX_MS, this.waitMs / 2)) {
          isReported = true;
          this.options.onOutage?.(error, this.waitMs);
        }
        continue;
      }
      if (!this.outage) return; // given up meanwhile: what was kept is durable all the same, and `lastTry` finds it so
      this.queue.release(this.unsynced.synced(end)); // WRITER-10
      this.outage = undefined;
      if (isReported) this.options.onOutage?.(undefined, this.waitMs);
      this.releaseWaiters(({ recorded: { position } }) => position.offset + position.bytes < end);
      this.writeThisTick(); // for facts that were appended meanwhile
    }
  }

  private wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.endWait = () => {
        this.endWait = undefined;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private releaseWaiters(isDue: (waiter: Waiter) => boolean): void {
    const waiters = [...this.awaitingWrite, ...this.awaitingSync];
    this.awaitingWrite = this.awaitingWrite.filter((waiter) => !isDue(waiter));
    this.awaitingSync = this.awaitingSync.filter((waiter) => !isDue(waiter));
    for (const waiter of waiters) if (isDue(waiter)) waiter.resolve(waiter.recorded);
  }

  /** WRITER-6 */
  private giveUp(error: JournalError): void {
    if (this.failure) return;
    this.failure = error;
    this.outage = undefined;
    for (const { reject } of [...this.awaitingWrite, ...this.awaitingSync]) reject(error);
    this.awaitingWrite = [];
    this.awaitingSync = [];
  }

  private outageMs(): number {
    return this.outage ? performance.now() - this.outage.sinceMs : 0;
  }

  /** WRITER-9 */
  private survivesWrite(): boolean {
    return this.sink.survivesFrom === 'write';
  }

  private isSyncDue(): boolean {
    return this.keptBytes() > (this.survivesWrite() ? UNSYNCED_MAX : 0);
  }

  private keptBytes(): number {
    return this.unsynced.end - this.unsynced.start;
  }

  private task(): string {
    return `write run ${this.ref.run} of ${this.ref.workflow}`;
  }
}

/** Returns ISO times, formatted at most once per millisecond. */
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
