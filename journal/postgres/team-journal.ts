/**
 * The journal of a run in the database: a writer, and what holds back a run of which the store takes nothing more. team-store.md 4.4, 4.5.
 *
 * TEAM-JOURNAL-1 A call begins when the database has its `call.started`; every other fact may be in the spill only.
 * TEAM-JOURNAL-2 When the run takes nothing more, only the ends of calls are taken: what was paid for is kept, nothing new begins.
 */
import type { Durability } from '../durability.js';
import type { Fact } from '../event.js';
import type { RunRef } from '../ids.js';
import type { OwnFact } from '../own-fact.js';
import type { Journal, Recorded } from '../store.js';
import type { RunWriter } from '../writer.js';
import type { SpillingRows } from './spill/spilling-rows.js';

export class TeamJournal implements Journal {
  private isInterrupted = false;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly writer: RunWriter,
    private readonly rows: SpillingRows,
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
    const recorded = await this.writer.append(fact, placed);
    if (fact.type === 'call.started') await this.rows.committed(recorded.position.offset + recorded.position.bytes); // TEAM-JOURNAL-1
    return recorded;
  }

  async appendOwn(fact: OwnFact, durability: Durability): Promise<Recorded> {
    this.refuseClosed();
    const { endedBy } = this.rows;
    if (endedBy !== undefined) throw endedBy; // TEAM-JOURNAL-2
    return this.writer.appendOwn(fact, durability);
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
