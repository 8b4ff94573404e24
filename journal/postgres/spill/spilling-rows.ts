/**
 * Takes the lines of a run into the database, and through times in which it can't be reached. team-store.md 4.3 to 4.5.
 *
 * SPILLING-1 Lines that are not committed 2 s after they were handed over, or when the connection is lost, go to a spill on the own disk,
 *    and are durable from then on: what was paid for outlasts the process. `committed` resolves for a line only when the database has
 *    it, so no call begins before. A kill leaves the spill, which a later command brings in (`push-spills.ts`).
 * SPILLING-2 Meanwhile the head of the run is asked for again and again, and what is behind it is sent (ROWS-2). When the time for that is
 *    over, `committed` rejects with STORE_SPILLED, and further lines go to the spill only. `settle` tries once more.
 * SPILLING-3 Once the run was sealed, `committed` rejects, and the ends of its calls go into a salvage run; every other line is dropped.
 *    They count as durable when that run has them, or the spill.
 * SPILLING-4 Without a spill, or while the own disk refuses it, lines wait in memory, and `sync` fails when the time is over.
 * SPILLING-5 Somebody is responsible for each line from its `sync` on: `send` ends in the same step in which it has seen that nothing is
 *    left to send, so what comes in the next one begins another. (It once ended a step later: lines that came in between, as those of a
 *    `flush` do, were never sent.) Whoever waits is released by the database, by the spill, or by the error that ends the run.
 * SPILLING-6 A spill has no gap: one whose lines the database has is removed before a further line goes to a new one.
 * SPILLING-7 Results that are late are sent again, with the lines that say so behind them (LATE-1). Behind the end of a run nothing can
 *    be appended: there they go before `run.finished`, whose line nobody has acknowledged yet. The same once the writer takes no more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAway, journalError, JournalError } from '../../errors.js';
import type { RunSink } from '../../storage/runs/run-sink.js';
import type { CreateOptions } from '../../store.js';
import { Unsynced } from '../../lines/unsynced.js';
import { endsRun, LateResults, withSuperseded, type LateResult } from '../claims/late-results.js';
import { firstSeq, hashBehind, ORDERED_DELAY_MS, type Head } from '../lines.js';
import type { RunRows } from '../run-rows.js';
import type { Salvage } from '../salvage/salvage-run.js';
import { mayPass } from '../store-errors.js';
import type { LineSource } from './line-source.js';
import type { SpillFile } from './spill-file.js';

const SPILL_AFTER_MS = 2000;
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 5000;
const REPORT_AFTER_MS = 1000; // a shorter outage is not reported
/** A run that was interrupted waits only so long at its end. */
const HURRIED_MS = 2000;

export interface SpillingPorts {
  readonly rows: RunRows;
  /** Undefined where nothing can be spilled: there is no place, or the run is not there yet. */
  readonly newSpill?: ((head: Head) => SpillFile | undefined) | undefined;
  /** Absent: a sealed run is nothing but an error. */
  readonly newSalvage?: () => Salvage;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly onOutage: CreateOptions['onOutage'];
}

interface Waiter {
  readonly end: number;
  resolve(): void;
  reject(error: Error): void;
}

export class SpillingRows implements RunSink {
  readonly survivesFrom = 'sync';
  readonly orderedDelayMs = ORDERED_DELAY_MS;
  /** Lines that the database is not known to have. */
  private uncommitted: Unsynced;
  private fresh: Uint8Array[] = [];
  private written: number;
  /** Those that wait until their lines are committed or spilled, and those that wait until they are committed. */
  private waiting: Waiter[] = [];
  private committing: Waiter[] = [];
  private spill: SpillFile | undefined;
  private spilledTo: number;
  /** Writing to the spill and removing it are one after the other. */
  private spilling: Promise<void> = Promise.resolve();
  private pumping: Promise<void> = Promise.resolve();
  /** SPILLING-5 */
  private isSending = false;
  private outage: { readonly sinceMs: number } | undefined;
  private isReported = false;
  private salvage: Salvage | undefined;
  private end: JournalError | undefined;
  /** Nothing is sent any more. */
  private isOver = false;
  private waitMs: number;
  private source: LineSource | undefined;

  constructor(private readonly ports: SpillingPorts) {
    const { offset, hash } = ports.rows.headNow;
    this.uncommitted = new Unsynced(offset, hash);
    this.written = offset;
    this.spilledTo = offset;
    this.waitMs = ports.waitMs;
  }

  /** The reason why the run takes nothing more: it was sealed, the store went back, or could not be reached for too long. */
  get endedBy(): JournalError | undefined {
    return this.end;
  }

  /** The store was away for too long, and has everything nevertheless: the last try has succeeded. */
  get isRegained(): boolean {
    return this.end !== undefined && isAway(this.end) && this.uncommitted.start === this.uncommitted.end;
  }

  get writtenBytes(): number {
    return this.written;
  }

  write(bytes: Uint8Array): void {
    this.fresh.push(bytes);
    this.written += bytes.length;
  }

  sync(done: (error: Error | null) => void): void {
    this.absorb();
    const { start, end } = this.uncommitted;
    if (start >= end) return done(null);
    const timer = setTimeout(() => this.spillSoon(), SPILL_AFTER_MS);
    const settle = (error: Error | null): void => {
      clearTimeout(timer);
      done(error);
    };
    this.waiting.push({ end, resolve: () => settle(null), reject: settle });
    if (this.outage !== undefined || this.isOver) this.spillSoon();
    this.pump();
  }

  /** Must be called before lines are written. */
  report(source: LineSource): void {
    this.source = source;
  }

  private absorb(): void {
    for (const bytes of this.fresh) this.uncommitted.add(Buffer.from(bytes), hashBehind(bytes)); // the writer uses its memory again
    this.fresh = [];
  }

  /** SPILLING-1. Resolves when the database has everything before this offset. */
  committed(end: number): Promise<void> {
    if (this.end !== undefined) return Promise.reject(this.end);
    if (this.uncommitted.start >= end) return Promise.resolve();
    return new Promise((resolve, reject) => this.committing.push({ end, resolve, reject }));
  }

  /** Must be called when the run could not be made yet. */
  startInOutage(): void {
    this.outage = { sinceMs: performance.now() };
  }

  /** The run must stop: a store that is away is waited for a moment only. */
  hurry(): void {
    this.waitMs = Math.min(this.waitMs, this.outageMs() + HURRIED_MS);
  }

  /** Resolves when all that was synced is recorded in the database, or will not be by this process. */
  async settle(isHurried: boolean): Promise<void> {
    if (isHurried) this.hurry();
    do {
      this.pump();
      await this.pumping;
    } while (this.isLeft());
    await this.spilling;
    if (this.end?.code === 'STORE_SPILLED') await this.tryAgain().catch(() => undefined); // it stays in the spill
    await this.spilling;
    await this.salvage?.close();
  }

  checkOwner(): Promise<void> {
    return this.ports.rows.checkOwner();
  }

  /** Does nothing: the head of the run says what is there (ROWS-2). */
  distrust(): void {}

  /** `sync` fails when its time is over, or nothing can be recorded any more. */
  isFinal(): boolean {
    return true;
  }

  async recover(unsynced: Unsynced): Promise<void> {
    if (this.end !== undefined && !isAway(this.end)) throw this.end;
    for (const { bytes, hash } of unsynced.from(this.uncommitted.end)) this.uncommitted.add(bytes, hash);
    this.fresh = [];
    this.written = this.uncommitted.end;
    await this.tryAgain();
  }

  cut(): void {}

  close(): void {
    this.ports.rows.close();
  }

  private async tryAgain(): Promise<void> {
    const { rows } = this.ports;
    for (;;) {
      try {
        await rows.recover(this.uncommitted);
        return this.commit(rows.headNow.offset);
      } catch (error) {
        if (!(error instanceof LateResults)) throw error;
        this.sendWithSuperseded(error.late);
      }
    }
  }

  /** SPILLING-7 */
  private sendWithSuperseded(late: readonly LateResult[]): void {
    const { rows } = this.ports;
    this.commit(rows.headNow.offset); // turns before the one that was refused
    this.source?.handOver();
    this.absorb();
    const { end } = this.uncommitted;
    const last = this.uncommitted.from(this.uncommitted.start).at(-1);
    if (last === undefined || !endsRun(last.bytes)) this.source?.supersede(late);
    this.absorb();
    if (this.uncommitted.end === end) this.addSuperseded(late);
    rows.takeAsOne();
  }

  private addSuperseded(late: readonly LateResult[]): void {
    const { start, hashBefore } = this.uncommitted;
    const pieces = this.uncommitted.from(start).map(({ bytes }) => bytes);
    const [first] = pieces;
    if (first === undefined) return;
    const lines = withSuperseded(Buffer.concat(pieces), { offset: start, seq: firstSeq(first), hash: hashBefore }, late);
    this.uncommitted = new Unsynced(start, hashBefore);
    this.uncommitted.add(lines, hashBehind(lines));
    this.source?.wereSuperseded(late);
  }

  private pump(): void {
    if (this.isSending) return;
    this.isSending = true;
    this.pumping = this.send();
  }

  private isLeft(): boolean {
    return this.uncommitted.start < this.uncommitted.end && !this.isOver;
  }

  private async send(): Promise<void> {
    let delayMs = RETRY_FIRST_MS;
    while (this.isLeft()) {
      try {
        const end = await this.sendAll();
        this.endOutage();
        this.commit(end);
        delayMs = RETRY_FIRST_MS;
      } catch (error) {
        if (error instanceof LateResults) {
          this.sendWithSuperseded(error.late);
          continue;
        }
        if (await this.isStoppedBy(journalError(error, 'write to the store'))) continue;
        await sleep(delayMs * (0.75 + Math.random() / 2));
        delayMs = Math.min(2 * delayMs, RETRY_MAX_MS, this.ports.leaseMs / 4);
      }
    }
    this.isSending = false; // SPILLING-5: in the step of the last look
  }

  /** Returns the offset up to which everything is recorded now. More lines may have come meanwhile, and some of them may be among those. */
  private async sendAll(): Promise<number> {
    const { rows } = this.ports;
    if (this.salvage === undefined && this.outage !== undefined) {
      await rows.recover(this.uncommitted); // SPILLING-2
      return rows.headNow.offset;
    }
    const { start, end } = this.uncommitted;
    const lines = this.uncommitted.from(start).map(({ bytes }) => bytes);
    await (this.salvage ?? rows).take(lines);
    return end;
  }

  /** False for an error after which the same may succeed. */
  private async isStoppedBy(error: JournalError): Promise<boolean> {
    const { newSalvage } = this.ports;
    if (error.code === 'STORE_SEALED' && this.salvage === undefined && newSalvage !== undefined) {
      this.endOutage();
      this.stop(error);
      this.salvage = newSalvage(); // SPILLING-3
      return true;
    }
    if (mayPass(error)) {
      this.beginOutage(error);
      if (this.outageMs() < this.waitMs) return false;
    }
    this.isOver = true;
    this.spillSoon();
    await this.spilling;
    this.stop(mayPass(error) && this.spill !== undefined ? spilled(error) : error);
    this.spillSoon(); // and fails the lines that the own disk does not take
    return true;
  }

  private beginOutage(error: JournalError): void {
    this.outage ??= { sinceMs: performance.now() };
    this.spillSoon();
    if (this.isReported || this.outageMs() < Math.min(REPORT_AFTER_MS, this.waitMs / 2)) return;
    this.isReported = true;
    this.ports.onOutage?.(error, this.waitMs);
  }

  private endOutage(): void {
    this.outage = undefined;
    if (this.isReported) this.ports.onOutage?.(undefined, this.waitMs);
    this.isReported = false;
  }

  private outageMs(): number {
    return this.outage === undefined ? 0 : performance.now() - this.outage.sinceMs;
  }

  private stop(error: JournalError): void {
    this.end ??= error;
    this.source?.refuseCalls(this.end); // before those who wait here ask for the next call
    for (const { reject } of this.committing) reject(this.end);
    this.committing = [];
  }

  private commit(end: number): void {
    this.uncommitted.synced(end);
    this.waiting = release(this.waiting, end);
    this.committing = release(this.committing, end);
    if (this.spill !== undefined) this.afterSpilling(() => this.removeSpill());
  }

  private async removeSpill(): Promise<void> {
    if (this.spill === undefined || this.uncommitted.start < this.spilledTo) return;
    const { spill } = this;
    this.spill = undefined;
    await spill.remove().catch(() => undefined); // bringing it in again does nothing (SPILL-2)
  }

  private spillSoon(): void {
    this.afterSpilling(() => this.spillNow());
  }

  /** SPILLING-5: what should never throw ends the run, not only the lines that it was about. */
  private afterSpilling(work: () => Promise<void>): void {
    this.spilling = this.spilling.then(work).catch((error: unknown) => {
      this.isOver = true;
      this.stop(journalError(error, 'keep what the store did not take'));
      this.failWaiting(Infinity);
    });
  }

  private async spillNow(): Promise<void> {
    await this.removeSpill(); // SPILLING-6
    const { start, end, hashBefore } = this.uncommitted;
    const from = this.spill === undefined ? start : Math.max(start, this.spilledTo);
    const pieces = this.uncommitted.from(from).map(({ bytes }) => bytes);
    const [first] = pieces;
    if (first !== undefined) {
      this.spill ??= this.ports.newSpill?.({ offset: start, seq: firstSeq(first), hash: hashBefore });
      if (this.spill !== undefined && (await this.isKept(this.spill, pieces))) this.spilledTo = end;
    }
    if (this.spill !== undefined) this.waiting = release(this.waiting, this.spilledTo);
    if (this.isOver) this.failWaiting(end);
  }

  /** SPILLING-4: the error of the store is the one to report. */
  private async isKept(spill: SpillFile, pieces: readonly Uint8Array[]): Promise<boolean> {
    try {
      await spill.append(pieces);
      return true;
    } catch {
      if (!spill.isEmpty) return false;
      this.spill = undefined;
      await spill.remove().catch(() => undefined);
      return false;
    }
  }

  /** Fails those whose lines the spill was just asked to take, and did not; lines behind them are in a later try. */
  private failWaiting(tried: number): void {
    const { end } = this;
    if (end === undefined) return;
    const failed = this.waiting.filter((waiter) => waiter.end <= tried);
    this.waiting = this.waiting.filter((waiter) => waiter.end > tried);
    for (const { reject } of failed) reject(end);
  }
}

function spilled(error: JournalError): JournalError {
  return new JournalError('STORE_SPILLED', `${error.message}; what was recorded since then is kept in .mlld/spill`, {
    hint: 'mlld store push, or the next run in this folder, brings it in when the store can be reached',
    cause: error.cause,
  });
}

/** Resolves those whose lines end before `end`, and returns the others. */
function release(waiters: readonly Waiter[], end: number): Waiter[] {
  for (const waiter of waiters) if (waiter.end <= end) waiter.resolve();
  return waiters.filter((waiter) => waiter.end > end);
}
