/**
 * The journal of a run in the database: a writer, and what holds back a run of which the store takes nothing more. team-store.md 4.4, 4.5.
 *
 * TEAM-JOURNAL-1 A call begins when the database has its `call.started`; every other fact may be in the spill only.
 * TEAM-JOURNAL-2 When the run takes nothing more, only the ends of calls are taken: what was paid for is kept, nothing new begins.
 * TEAM-JOURNAL-3 A result is used when the database has taken it: until then, another run's result of the call may win. One that waits in
 *    the spill is used only by a run that is over for its store, or must stop. docs/decisions/0051-a-result-is-used-when-it-has-won.md
 */
import type { Durability } from '../durability.js';
import { isTaken, type JournalError } from '../errors.js';
import type { Fact } from '../event.js';
import type { RecordedResult } from '../storage/claims.js';
import type { RunRef, Seq } from '../ids.js';
import type { OwnFact } from '../own-fact.js';
import type { CreateOptions, Journal, Recorded } from '../store.js';
import type { RunWriter } from '../writer.js';
import type { Offers } from '../storage/offers.js';
import type { RunClaims } from './claims/claim-rows.js';
import { supersededFact, type LateResult } from './claims/late-results.js';
import { competes } from './claims/results-in-lines.js';
import type { LineSource } from './spill/line-source.js';
import type { SpillingRows } from './spill/spilling-rows.js';

export class TeamJournal implements Journal, LineSource {
  private isInterrupted = false;
  private isTaken = false;
  private closing: Promise<void> | undefined;
  private isHurried = false;
  private readonly waiting = new Set<() => void>();
  /** Late results of this run whose append has not returned yet. */
  private readonly winners = new Map<Seq, RecordedResult>();

  constructor(
    private readonly writer: RunWriter,
    private readonly rows: SpillingRows,
    readonly claims: RunClaims,
    private readonly listeners: Pick<CreateOptions, 'onAdded' | 'onTaken'>,
    readonly offers?: Offers,
  ) {}

  get ref(): RunRef {
    return this.writer.ref;
  }

  post(fact: Fact): Recorded {
    return this.writer.post(fact);
  }

  async append(fact: Fact, placed?: (recorded: Recorded) => void): Promise<Recorded> {
    this.refuseClosed();
    const { endedBy } = this.rows;
    if (fact.type === 'run.finished') this.isInterrupted = fact.status === 'interrupted';
    if (endedBy !== undefined && !MAY_FOLLOW.has(fact.type)) throw endedBy; // TEAM-JOURNAL-2
    if (fact.type === 'call.started' && this.claims.refusedBy !== undefined) throw this.claims.refusedBy; // HEARTBEAT-4
    const recorded = await this.writer.append(fact, placed);
    const end = recorded.position.offset + recorded.position.bytes;
    if (fact.type === 'call.failed' && fact.retryInMs === undefined) this.claims.ended(fact.key, this.rows.committed(end));
    if (fact.type === 'call.completed') {
      const isWaitedFor = competes(fact);
      this.claims.ended(fact.key, isWaitedFor ? undefined : this.rows.committed(end));
      if (isWaitedFor) await this.won(end); // TEAM-JOURNAL-3
      return this.withWinner(recorded);
    }
    if (fact.type === 'call.started') await this.rows.committed(end); // TEAM-JOURNAL-1
    return recorded;
  }

  private async won(end: number): Promise<void> {
    if (this.isHurried) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.waiting.delete(done);
        resolve();
      };
      this.waiting.add(done);
      this.rows.committed(end).then(done, done); // the error is that of the run, and reported by its next call
    });
  }

  hurry(): void {
    this.isHurried = true;
    for (const done of this.waiting) done();
  }

  /** Asks the store, which may have told it to nobody yet, whether the run is still that of this process. */
  checkOwner(): void {
    this.rows.checkOwner().catch((error: unknown) => this.report(error)); // one that can't be asked is asked again
  }

  private report(error: unknown): void {
    if (this.isTaken || !isTaken(error)) return;
    this.isTaken = true;
    this.listeners.onTaken?.(error);
  }

  async appendOwn(fact: OwnFact, durability: Durability): Promise<Recorded> {
    this.refuseClosed();
    const { endedBy } = this.rows;
    if (endedBy !== undefined) throw endedBy; // TEAM-JOURNAL-2
    return this.writer.appendOwn(fact, durability);
  }

  supersede(late: readonly LateResult[]): void {
    this.wereSuperseded(late);
    for (const each of late) {
      const fact = supersededFact(each);
      const recorded = this.writer.post(fact);
      if (recorded.hash !== '') this.listeners.onAdded?.(fact, recorded);
    }
    this.handOver();
  }

  handOver(): void {
    void this.writer.flush().catch(() => undefined); // hands over at once; whoever waits for a line learns why it failed
  }

  wereSuperseded(late: readonly LateResult[]): void {
    for (const { of, by } of late) this.winners.set(of, by);
  }

  /** A claim would wait for the store as long again, for a call that can't begin. */
  refuseCalls(error: JournalError): void {
    this.claims.refuse(error);
    this.report(error);
  }

  private withWinner(recorded: Recorded): Recorded {
    const supersededBy = this.winners.get(recorded.seq);
    this.winners.delete(recorded.seq);
    return supersededBy === undefined ? recorded : { ...recorded, supersededBy };
  }

  flush(): Promise<void> {
    return this.writer.flush();
  }

  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private async finish(): Promise<void> {
    await this.writer.flush().catch(() => undefined); // `close` of the writer reports it
    try {
      await this.rows.settle(this.isInterrupted);
    } finally {
      await this.writer.close();
    }
    const { endedBy } = this.rows;
    if (endedBy !== undefined && !this.rows.isRegained) throw endedBy;
  }

  private refuseClosed(): void {
    if (this.closing !== undefined) throw new Error(`run ${this.ref.run} is closed`);
  }
}

/** A run that is over for its store still ends in its spill. */
const MAY_FOLLOW: ReadonlySet<Fact['type']> = new Set<Fact['type']>(['call.completed', 'call.failed', 'run.finished']);
