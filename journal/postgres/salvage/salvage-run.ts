/**
 * Records how the calls of a sealed run ended: it takes no event more, and what they cost must not be lost. team-store.md 4.5.
 *
 * SALVAGE-1 For each attempt whose end the sealed run does not have, a run of its own gets a `call.started` that names the event which
 *    began it, and the end. It begins with the first of them: a sealed run that left nothing has no salvage run.
 * SALVAGE-2 An end that any salvage run of the sealed run has is left out, so the same lines can be handed over again after a kill. A kill
 *    in the middle leaves a salvage run without `run.finished`, whose ends count.
 * SALVAGE-3 A result that guards had not judged is paid for, too: it goes before the end, or alone where there is none.
 * SALVAGE-4 A call whose beginning nobody can read any more, because the sealed run was deleted, is left out: its key is known no longer.
 */
import type { EventOf, FactOf, JournalEvent } from '../../event.js';
import type { EventRef, OpPath, RunRef, Seq } from '../../ids.js';
import type { Visit } from '../../reader.js';
import type { Journal } from '../../store.js';

/** Takes what a sealed run may not take any more. */
export interface Salvage {
  /** Pieces of whole lines that the sealed run would have had. Resolves when the ends of calls in them are recorded. */
  take(pieces: readonly Uint8Array[]): Promise<void>;
  close(): Promise<void>;
}

export interface SalvagePorts {
  readonly scan: (ref: RunRef, visit: Visit) => Promise<unknown>;
  /** The salvage runs of the sealed run. */
  readonly runsOf: (sealed: RunRef) => Promise<readonly RunRef[]>;
  readonly create: (sealed: RunRef) => Promise<Journal>;
}

type End = EventOf<'call.completed'> | EventOf<'call.failed'>;
type Received = EventOf<'result.received'>;

interface Sealed {
  readonly started: EventOf<'run.started'> | undefined;
  /** The number of its last event. */
  readonly last: number;
}

export class SalvageRun implements Salvage {
  private sealed: Sealed | undefined;
  private readonly begun = new Map<OpPath, EventOf<'call.started'>>();
  /** The beginnings of attempts whose end is recorded. */
  private readonly ended = new Set<Seq>();
  /** The beginnings of attempts whose result was received, as an earlier salvage run has it. */
  private readonly received = new Set<Seq>();
  /** The beginnings of attempts that this salvage run has begun, and not ended. */
  private readonly open = new Set<Seq>();
  private readonly appending = new Map<Seq, Promise<unknown>>();
  private journal: Journal | undefined;
  private failed = 0;
  private executed = 0;

  constructor(
    private readonly ports: SalvagePorts,
    private readonly ref: RunRef,
  ) {}

  async take(pieces: readonly Uint8Array[]): Promise<void> {
    const sealed = await this.readSealed();
    for (const piece of pieces) {
      for (const line of Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString().split('\n')) {
        if (line === '') continue;
        const event = JSON.parse(line) as JournalEvent;
        if (event.seq > sealed.last) await this.takeEvent(event, sealed);
      }
    }
    await Promise.all(this.appending.values());
  }

  /** The number of calls whose end, or result, this process has recorded. */
  get count(): number {
    return this.executed + this.failed + this.open.size;
  }

  async close(): Promise<void> {
    if (this.journal === undefined) return;
    const { executed, failed, ref } = this;
    await this.journal.append({ type: 'run.finished', status: 'interrupted', totals: { executed, reused: 0, failed }, salvages: ref.run });
    await this.journal.close();
  }

  private async readSealed(): Promise<Sealed> {
    if (this.sealed !== undefined) return this.sealed;
    let started: EventOf<'run.started'> | undefined;
    let last = -1;
    this.begun.clear();
    await this.ports.scan(this.ref, (event) => {
      if (event.type === 'run.started') started = event;
      this.follow(event);
      last = event.seq;
    });
    for (const earlier of await this.ports.runsOf(this.ref)) await this.readEarlier(earlier);
    this.sealed = { started, last };
    return this.sealed;
  }

  /** SALVAGE-2 */
  private async readEarlier(earlier: RunRef): Promise<void> {
    const begun = new Map<OpPath, EventRef>();
    await this.ports.scan(earlier, (event) => {
      if (event.type === 'call.started' && event.begun !== undefined) begun.set(event.op, event.begun);
      const beginning = isEnd(event) || isReceived(event) ? begun.get(event.op) : undefined;
      if (beginning !== undefined) (isReceived(event) ? this.received : this.ended).add(beginning.seq);
    });
  }

  private follow(event: JournalEvent): void {
    if (event.type === 'call.started') this.begun.set(event.op, event);
    else if (isEnd(event)) this.begun.delete(event.op);
  }

  private async takeEvent(event: JournalEvent, sealed: Sealed): Promise<void> {
    if (this.appending.has(event.seq)) return; // handed over before
    if (!isEnd(event) && !isReceived(event)) return;
    const beginning = this.begun.get(event.op);
    if (beginning !== undefined && sealed.started !== undefined && this.isMissing(event, beginning)) {
      this.journal ??= await this.begin(sealed.started);
      if (!this.open.has(beginning.seq)) this.journal.post(startedAgain(beginning, { run: this.ref.run, seq: beginning.seq }));
      const appending = this.journal.append(factOf(event));
      appending.catch(() => undefined); // `take` waits for it below
      this.appending.set(event.seq, appending);
      if (isReceived(event)) this.open.add(beginning.seq);
      else this.open.delete(beginning.seq);
      if (event.type === 'call.completed') this.executed++;
      else if (event.type === 'call.failed' && event.retryInMs === undefined) this.failed++;
    }
    if (isEnd(event)) this.begun.delete(event.op);
  }

  /** SALVAGE-2, SALVAGE-3 */
  private isMissing(event: End | Received, { seq }: EventOf<'call.started'>): boolean {
    return !this.ended.has(seq) && !(isReceived(event) && this.received.has(seq));
  }

  private async begin({ name, versions, host, pid, user }: EventOf<'run.started'>): Promise<Journal> {
    const { workflow, run } = this.ref;
    const journal = await this.ports.create(this.ref);
    journal.post({
      type: 'run.started',
      workflow,
      name,
      argv: [],
      payload: {},
      flags: { record: true },
      versions,
      host,
      pid,
      ...(user !== undefined && { user }),
      salvages: run,
    });
    return journal;
  }
}

function isEnd(event: JournalEvent): event is End {
  return event.type === 'call.completed' || event.type === 'call.failed';
}

function isReceived(event: JournalEvent): event is Received {
  return event.type === 'result.received';
}

function startedAgain(event: EventOf<'call.started'>, begun: EventRef): FactOf<'call.started'> {
  return { ...factOf(event), begun } as FactOf<'call.started'>;
}

/** Leaves out what makes a fact an event of its run. */
function factOf(event: End | Received | EventOf<'call.started'>): FactOf<End['type'] | 'result.received' | 'call.started'> {
  const { v: _v, seq: _seq, ts: _ts, hash: _hash, ...fact } = event;
  return fact as FactOf<End['type'] | 'result.received' | 'call.started'>;
}
