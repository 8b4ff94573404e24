/**
 * Has the calls of a run executed by workers of the store of a team. team-store.md 7.
 *
 * OFFERED-1 An offer is an index: the run's own wait decides. Offers that are gone (a crash of the server, an upkeep) are made again.
 * OFFERED-2 A call that no worker can execute is executed here, and the reason is said once for each function.
 * OFFERED-3 With slots of its own, the run executes the offers that workers come to last. It claims such a call while it is offered, and
 *    takes the offer back only then: a failure at a worker that finds no offer, or is not looked at, is known to nobody, and the call is
 *    executed again.
 * OFFERED-4 In a lane that is stopped nothing is offered, and what no worker executes is taken back; so it is with all lanes. Offered calls
 *    are in flight for the dispatcher, so a run pauses behind the last of them. A call that another run has claimed for itself is not one
 *    of them: that run may be about to pause as well.
 * OFFERED-5 A declined call is claimed as one that was not offered: it is not in flight for the dispatcher while it waits for another run.
 *    (It once was: two runs whose budget was used up waited for the calls that the other had claimed, and neither paused.)
 * OFFERED-6 The guards before a call decide here, when the call is about to be offered (OFFERABLE-1). A call that they deny takes the way
 *    of one that is not offered, and is denied there.
 * OFFERED-7 Sealed offers for which no worker had the key for a lease are followed by none for a while: each would wait for a lease.
 * OFFERED-8 A run that only waits for workers appends nothing, and so does not hear from its journal that it was sealed: it hears when it
 *    makes offers again. Then all of them go on, and the first `call.started` is refused.
 */
import type { CallKey, EventRef } from '../../../../journal/ids.js';
import type { Fact } from '../../../../journal/event.js';
import { JournalError } from '../../../../journal/errors.js';
import type { CallsAtWorkers, ExecutingWorker, OfferedResult, OfferOutcome, Offers } from '../../../../journal/storage/offers.js';
import type { Claimed, RecordedResult } from '../../../../journal/storage/claims.js';
import type { CallOffers, DescribedCall, NotOffered, OfferableCall, OfferedCallState } from '../../../runtime/calls/offered-call.js';
import { OTHER_KEY } from '../../../runtime/calls/offered-call.js';
import type { RunTeamResults } from '../claims/team-results.js';
import type { Dispatcher } from '../../../calls/dispatch/dispatcher.js';
import { OfferWriter, type OfferWriterPorts } from './offer-writer.js';
import { OfferReports } from './offer-reports.js';
import type { Workflow } from '../../../../journal/ids.js';

/** Ended calls are looked for so often at most, and more often while no look finds any: a hint is of one that has just ended. */
const LOOK_FIRST_MS = 20;
const LOOK_HINTED_MS = 5;
/** A look may come later while so many times more calls wait than have ended since the last one: workers have enough to do. */
const DEEP = 8;
const LOOK_DEEP_MS = 60;
const LOOK_MAX_MS = 2000;
const LOOK_AT_WORKERS_MS = 1000;
/** A look at all offers is a statement about each of them. */
const LOOK_AT_ALL_MS = 2000;
const SEALED_HERE_MS = 600_000;
/** A call that a worker executes is not claimed more often: it is free when the lease of that worker has run out. */
const CLAIM_AGAIN_MS = 500;

export interface WorkersRequest {
  /** Names of functions: only their calls are offered, also those that read files of the project. */
  readonly only?: readonly string[];
  /** The run executes so many calls itself at a time. */
  readonly slots?: number;
}

export interface OfferPorts extends OfferWriterPorts {
  readonly offers: Offers;
  readonly team: RunTeamResults;
  readonly workflow: Workflow;
  readonly request: WorkersRequest;
  readonly reusesAll: () => boolean;
  readonly ownLimit: () => string | undefined;
  readonly record: (fact: Fact) => void;
  /** Called with what workers execute now, about once a second. Absent where nobody wants to know. */
  readonly onAtWorkers: ((now: CallsAtWorkers) => void) | undefined;
  readonly dispatch: Pick<Dispatcher, 'began' | 'ended' | 'whenOpen' | 'stoppedBy'>;
  readonly mustStop: () => boolean;
  readonly signal: AbortSignal;
  readonly monotonicMs: () => number;
  readonly stderr: (text: string) => void;
}

/** The call begins nothing: the journal takes no `call.started`. OFFERED-8 */
const SEALED = { kind: 'claimed', replaces: undefined } as const;

type Outcome = OfferOutcome | Extract<Claimed, { readonly kind: 'claimed' }> | { readonly kind: 'stopped' | 'sealed' };

interface Pending {
  readonly fn: string;
  readonly lane: string;
  readonly pace: string;
  /** It is being taken back. */
  isLeaving?: boolean;
  /** When another run had it as this one wanted to execute it. */
  takenMs?: number;
  readonly sinceMs: number;
  readonly refused: EventRef | undefined;
  readonly offerAgain: () => Promise<OfferedResult | undefined>;
  readonly resolve: (outcome: Outcome) => void;
}

export class OfferedCalls implements CallOffers {
  private readonly pending = new Map<CallKey, Pending>();
  private readonly told = new Set<string>();
  private readonly writer: OfferWriter;
  private sealedHereUntilMs = -Infinity;
  private readonly reports: OfferReports;
  private freeSlots: number;
  /** Calls that this run executes in a slot of its own. */
  private readonly own = new Set<CallKey>();
  private isCollecting = false;
  private lookedAtWorkersMs = -Infinity;
  private lookedAtAllMs = 0;

  constructor(private readonly ports: OfferPorts) {
    this.freeSlots = ports.request.slots ?? 0;
    this.writer = new OfferWriter(ports);
    this.reports = new OfferReports({ ...ports, waiting: () => this.pending.values() });
  }

  async claim(call: OfferableCall, refused: EventRef | undefined): Promise<OfferedCallState> {
    const described = await this.describe(call);
    if ('because' in described) return this.executeHere(call, described, refused);
    if (this.freeSlots > 0) return this.claimInSlot(call, refused);
    const passed = await call.passGuards?.(); // OFFERED-6
    if (passed && 'because' in passed) return this.executeHere(call, passed, refused);
    const offer = await this.writer.write(call, described, passed);
    if (typeof offer !== 'string') return this.executeHere(call, offer, refused);
    return this.offerAndWait(call, { lane: described.lane, json: offer }, refused);
  }

  private executeHere(call: OfferableCall, { because }: NotOffered, refused: EventRef | undefined): Promise<OfferedCallState> {
    if (because !== undefined) this.tellOnce(call.fn, `calls of @${call.fn} are executed here: ${because}`);
    return this.ports.team.claim(call, refused);
  }

  ended(key: CallKey): void {
    if (!this.own.delete(key)) return;
    this.freeSlots++;
    this.passSlotOn();
  }

  /** OFFERED-4 */
  async stopped(pace: string): Promise<void> {
    await this.stopAll((pending) => pending.pace === pace);
  }

  private async stopAll(isMeant: (pending: Pending) => boolean): Promise<void> {
    const keys = [...this.pending].filter(([, pending]) => isMeant(pending)).map(([key]) => key);
    if (keys.length === 0) return;
    for (const key of await this.takeBack(keys)) this.settle(key, { kind: 'stopped' });
  }

  /** Returns the calls that have not ended and that no worker executes; they are offered no longer. */
  private async takeBack(keys: readonly CallKey[]): Promise<readonly CallKey[]> {
    const { team, offers } = this.ports;
    const mark = (isLeaving: boolean): void => {
      for (const key of keys) Object.assign(this.pending.get(key) ?? {}, { isLeaving });
    };
    mark(true);
    const taken = await team.whileReachable(() => offers.takeBack(keys));
    mark(false);
    return typeof taken === 'object' ? taken : [];
  }

  private async claimInSlot(call: OfferableCall, refused: EventRef | undefined): Promise<OfferedCallState> {
    this.freeSlots--;
    const claimed = await this.ports.team.claim(call, refused);
    this.own.add(call.key);
    if (claimed.kind !== 'claimed') this.ended(call.key);
    return claimed;
  }

  private async offerAndWait(call: OfferableCall, offer: SentOffer, refused: EventRef | undefined): Promise<OfferedCallState> {
    const { dispatch, mustStop, record, team } = this.ports;
    const { key, op, fn, sites } = call;
    const { lane } = offer;
    const pace = await call.pace();
    const opening = { op, fn, lane: pace, isRetry: false };
    await dispatch.whenOpen(opening); // OFFERED-4
    record({ type: 'call.offered', key, op, fn, ...sites, ...(lane !== '' && { lane }) });
    let refusing = refused;
    while (!mustStop()) {
      await dispatch.whenOpen(opening);
      dispatch.began();
      try {
        const state = await this.offerOnce(call, { ...offer, pace }, refusing);
        if (state.kind === 'declined') break;
        if (state.kind !== 'again') return state;
        refusing = state.refusing;
      } finally {
        dispatch.ended();
      }
    }
    return team.claim(call, refusing); // OFFERED-5
  }

  private async offerOnce(
    call: OfferableCall,
    offer: SentOffer & { readonly pace: string },
    refusing: EventRef | undefined,
  ): Promise<OfferedCallState | { readonly kind: 'declined' } | { readonly kind: 'again'; readonly refusing: EventRef | undefined }> {
    const { team, offers } = this.ports;
    const { key } = call;
    const again = (refused = refusing) => ({ kind: 'again', refusing: refused }) as const;
    const known = await team.whileReachable(() => offers.offer({ key, lane: offer.lane, call: offer.json, refused: refusing }));
    if (known === 'sealed') return SEALED;
    if (known === 'away') {
      await team.pause();
      return again();
    }
    if (known !== undefined) {
      const { by, worker } = known; // it may have come while the run wanted to execute the call itself
      if (team.isNews(by) && (await team.learn(call, by, worker)) !== undefined) return { kind: 'answered', by };
      return again(by); // TEAM-RESULTS-2
    }
    const outcome = await this.wait(call, offer, refusing);
    switch (outcome.kind) {
      case 'claimed':
        return outcome;
      case 'stopped':
        return again();
      case 'sealed':
        return SEALED;
      case 'declined':
        if (outcome.why === OTHER_KEY) this.sealedHereUntilMs = this.ports.monotonicMs() + SEALED_HERE_MS; // OFFERED-7
        this.tellOnce(call.fn, `calls of @${call.fn} are executed here: the worker ${outcome.worker} can't execute them (${outcome.why})`);
        return { kind: 'declined' };
      case 'answered':
        if ((await team.learn(call, outcome.by, outcome.worker)) !== undefined) return { kind: 'answered', by: outcome.by };
        return again(outcome.by);
      case 'ended':
        return (await this.endOf(call, outcome.by, outcome.worker)) ?? again();
    }
  }

  /** Undefined when the event can't be read, or is none of this call, as a role that only serves may have written: it is offered again. */
  private async endOf(call: OfferableCall, by: RecordedResult, worker: ExecutingWorker | undefined): Promise<OfferedCallState | undefined> {
    const { workflow, team } = this.ports;
    const event = await team.read({ workflow, run: by.run }, by.position);
    if (event?.type === 'call.failed' && event.key === call.key && event.seq === by.seq)
      return { kind: 'failed', event, begun: { run: by.run, seq: by.seq }, worker };
    return (await team.learn(call, by, worker)) === undefined ? undefined : { kind: 'answered', by };
  }

  private wait(
    { key, fn }: OfferableCall,
    { lane, json, pace }: SentOffer & { readonly pace: string },
    refused: EventRef | undefined,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      const offerAgain = (): Promise<OfferedResult | undefined> => this.ports.offers.offer({ key, lane, call: json, refused });
      this.pending.set(key, { fn, lane, pace, sinceMs: this.ports.monotonicMs(), refused, offerAgain, resolve });
      this.passSlotOn();
      if (!this.isCollecting) void this.collect();
    });
  }

  private settle(key: CallKey, outcome: Outcome): void {
    const pending = this.pending.get(key);
    if (pending === undefined) return;
    this.pending.delete(key);
    this.ports.offers.withdraw(key);
    pending.resolve(outcome);
  }

  /** OFFERED-8 */
  private endAll(): void {
    for (const { resolve } of this.pending.values()) resolve({ kind: 'sealed' });
    this.pending.clear();
  }

  /** OFFERED-3 */
  private passSlotOn(): void {
    if (this.freeSlots === 0 || this.pending.size === 0) return;
    const triedMs = this.ports.monotonicMs() - CLAIM_AGAIN_MS;
    const newest = [...this.pending].findLast(([key, { takenMs = -Infinity }]) => takenMs < triedMs && !this.own.has(key));
    if (newest === undefined) return;
    this.freeSlots--;
    void this.claimPending(...newest);
  }

  private async claimPending(key: CallKey, pending: Pending): Promise<void> {
    const { team, monotonicMs } = this.ports;
    pending.takenMs = monotonicMs();
    this.own.add(key);
    const claimed = await team.tryClaim({ key, refused: pending.refused, isAlone: false });
    if (claimed?.kind === 'claimed') {
      const isFree = (await this.takeBack([key])).includes(key); // one that has just failed at a worker can be claimed, too
      if (isFree && this.pending.get(key) === pending) return this.settle(key, claimed);
      team.giveBack(key);
    } else {
      await team.pause(); // another run executes it, or the store is away
    }
    this.ended(key);
  }

  /** Looks for all offers at once, as long as there are some. */
  private async collect(): Promise<void> {
    this.isCollecting = true;
    const { offers, signal, mustStop, monotonicMs, team, dispatch } = this.ports;
    const watch = offers.watch();
    try {
      for (let delayMs = LOOK_FIRST_MS, gapMs = LOOK_FIRST_MS; this.pending.size > 0 && !mustStop();) {
        const lookedMs = monotonicMs();
        const wasHinted = await watch.wait(delayMs, signal);
        const restMs = lookedMs + gapMs - monotonicMs();
        if (restMs > 0) await team.pause(restMs);
        const found = await team.whileReachable(() => this.look());
        if (found === 'sealed') return this.endAll();
        if (found === 'away') {
          await team.pause();
          continue;
        }
        if (dispatch.stoppedBy !== undefined) await this.stopAll(() => true); // OFFERED-4
        gapMs = found === 0 ? LOOK_HINTED_MS : this.pending.size > DEEP * found ? LOOK_DEEP_MS : LOOK_FIRST_MS;
        delayMs = wasHinted || found > 0 ? LOOK_FIRST_MS : Math.min(2 * delayMs, LOOK_MAX_MS);
        this.passSlotOn();
        await this.lookAtWorkers();
        await this.reports.report(found > 0);
      }
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
    } finally {
      watch.close();
      this.isCollecting = false;
      if (this.pending.size === 0 || mustStop()) this.ports.onAtWorkers?.({ calls: 0, workers: 0 });
      if (mustStop()) for (const key of this.pending.keys()) this.settle(key, { kind: 'stopped' });
      else if (this.pending.size > 0) void this.collect();
    }
  }

  /** Returns how many calls have ended. Those that are known without a search come with their lines, so they are never searched for. */
  private async look(): Promise<number> {
    const { offers, monotonicMs } = this.ports;
    const ended = await offers.collect();
    for (const [key, outcome] of ended) this.settle(key, outcome);
    if (monotonicMs() < this.lookedAtAllMs + LOOK_AT_ALL_MS) return ended.size;
    const known = [...this.pending.keys()];
    const { outcomes, count } = await offers.collectAll();
    this.lookedAtAllMs = monotonicMs();
    for (const [key, outcome] of outcomes) this.settle(key, outcome);
    if (count < known.length - outcomes.size) await this.offerMissing(known); // OFFERED-1
    return ended.size + outcomes.size;
  }

  private async lookAtWorkers(): Promise<void> {
    const { offers, monotonicMs, onAtWorkers, team } = this.ports;
    if (onAtWorkers === undefined || monotonicMs() < this.lookedAtWorkersMs + LOOK_AT_WORKERS_MS) return;
    this.lookedAtWorkersMs = monotonicMs();
    const now = await team.whileReachable(() => offers.atWorkers());
    if (typeof now === 'object') onAtWorkers(now);
  }

  /** A result may have come while the offer was gone. Says, too, whether the run was sealed, which no look at its offers does. OFFERED-8 */
  private async offerMissing(keys: readonly CallKey[]): Promise<void> {
    const again = async (key: CallKey): Promise<void> => {
      const pending = this.pending.get(key);
      const known = pending?.isLeaving ? undefined : await pending?.offerAgain();
      if (known !== undefined) this.settle(key, known);
    };
    await Promise.all(keys.map(again));
  }

  private async describe(call: OfferableCall): Promise<DescribedCall | NotOffered> {
    const { request, reusesAll, ownLimit, budgets, monotonicMs } = this.ports;
    const isNamed = request.only?.some((name) => name.replace(/^@/, '') === call.fn) ?? false;
    const because = (text: string): NotOffered => ({ because: text });
    if (request.only !== undefined && !isNamed) return because(`--workers names ${request.only.join(', ')} only`);
    if (!reusesAll()) return because('this run reuses no results of other runs (--checkpoint does)');
    if (budgets === undefined) return because('its budget is one of this run alone');
    if (call.describe === undefined) return because('its function is not one of the script');
    const described = await call.describe();
    if ('because' in described) return described;
    if (described.readsFiles && !isNamed) return because(`it reads files of the project (--workers @${call.fn} offers it all the same)`);
    if (described.hasSecret && monotonicMs() < this.sealedHereUntilMs) return because('no worker had the key of its secrets lately');
    const limit = makesCalls(described, call.fn) ? ownLimit() : undefined;
    if (limit !== undefined) return because(`a worker would look up the calls inside it without ${limit}`);
    return this.writer.reasonAgainst(described) ?? described;
  }

  private tellOnce(topic: string, message: string): void {
    if (this.told.has(topic)) return;
    this.told.add(topic);
    this.ports.stderr(`${message}\n`);
  }
}

function makesCalls({ inside: { reach } }: DescribedCall, fn: string): boolean {
  return reach.labels.has('llm') || reach.functions.has(fn);
}

interface SentOffer {
  readonly lane: string;
  /** The offer. */
  readonly json: string;
}
