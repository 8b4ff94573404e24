/**
 * Decides when an attempt starts: when its lane and the budget let it. Ends the run in order when nothing can start any more.
 * calls.md 12 to 14.
 *
 * DISPATCH-1 At each start spent + reserved <= budget, attempts in flight <= concurrency, and the lane's own limits hold.
 * DISPATCH-2 In a stopped lane nothing starts, and once all are stopped nothing does. Attempts that have started end, and their results
 *    are used. It counts from the moment at which the failure is known (`judged`): until `finish` its recording may take a while.
 * DISPATCH-3 The run is paused when something waits for what is stopped, and nothing is in flight that could continue the script: an
 *    attempt counts as such unless it waits itself, for a call inside it. That must last a moment in which nothing ends or is written.
 * DISPATCH-4 Whatever still waits then, or when the run must stop, is rejected with INTERRUPTED.
 * DISPATCH-5 A run that is another process's now is paused as well when nothing waits, and whatever else goes on: only attempts in flight,
 *    also those of child runs, are waited for, because they are paid. Stages and effects outside of them are held meanwhile.
 */
import { isTurnedAway } from '../../../journal/facts/turned-away.js';
import type { OpPath } from '../../../journal/ids.js';
import { TIMER_MAX_MS } from '../../world/clock.js';
import type { Admission, Budget } from '../budget/budget.js';
import { newSpending, type Spending } from '../budget/spending.js';
import type { Failure } from '../failure.js';
import { AttemptsInFlight } from './attempts-in-flight.js';
import { InnerRuns } from './inner-runs.js';
import { outcomeOf, type Lane, type StartRequest, type Waiting } from './lane.js';
import { Lanes } from './lanes.js';
import { Places } from './places.js';
import type { AttemptEnd, DispatcherPorts, DispatchRecord, LearnedPace, Started } from './ports.js';
import { Alarm, IDLE_CONFIRM_MS, IdleTimer, Sleepers } from './sleepers.js';
import { startForAll } from './start-for-all.js';
import { budgetStop, interrupted, isStopping, type Stop } from './stop.js';
import { Stops } from './stops.js';

export class Dispatcher {
  private readonly lanes: Lanes;
  private readonly inFlight = new AttemptsInFlight<Lane<Started>>();
  private readonly places: Places;
  readonly spending: Spending;
  readonly inner = new InnerRuns();
  private journal: DispatchRecord | undefined;
  private learned: LearnedPace | undefined;
  private learning: Promise<void> | undefined;
  private readonly alarm: Alarm;
  private readonly idleTimer = new IdleTimer(
    () => this.isIdle(),
    () => this.pause(),
  );
  private budgetTimer: NodeJS.Timeout | undefined;
  private busy = 0;
  private isOver = false;
  private readonly stops: Stops;
  private readonly sleepers = new Sleepers();

  constructor(private readonly ports: DispatcherPorts) {
    ports.around?.inner.add(this);
    this.spending = ports.around?.spending ?? newSpending(ports.settings.budget, ports.monotonicMs());
    this.spending.spenders.add(this);
    this.lanes = new Lanes(ports, (lane) => this.pump(lane));
    this.places = new Places(this.lanes, this.inFlight, ports.settings.concurrency);
    this.alarm = new Alarm(ports.monotonicMs, () => this.pumpAll());
    this.stops = new Stops({
      ...ports,
      spending: this.spending,
      record: (fact) => this.journal?.record(fact),
      waits: (lane, untilMs, why) => this.journal?.waits?.(lane, untilMs, why),
      sleep: (ms) => this.sleep(ms),
      opened: () => this.pumpAll(),
    });
    ports.signal.addEventListener('abort', () => this.end(), { once: true });
    if (ports.around?.stoppedBy?.endsRun) this.stop(ports.around.stoppedBy); // DISPATCH-5
  }

  open(journal: DispatchRecord): void {
    this.journal = journal;
    this.lanes.journal = journal;
    const { budget } = this.ports.settings;
    if (budget?.ms === undefined) return;
    clearTimeout(this.budgetTimer);
    const leftMs = Math.max(0, this.spending.beganMs + budget.ms - this.ports.monotonicMs());
    this.budgetTimer = setTimeout(() => this.stop(budgetStop('ms', budget)), Math.min(leftMs, TIMER_MAX_MS));
    this.budgetTimer.unref();
  }

  /** The reason that no call may start; undefined while calls may. */
  get stoppedBy(): Stop | undefined {
    return this.stops.all;
  }

  /** The reason of a pause: the first stop that is still one. */
  get pausedBy(): Stop | undefined {
    return this.stops.reason;
  }

  get spent(): Budget['spent'] | undefined {
    return this.spending.budget?.spent;
  }

  get overBudget(): Budget['over'] | undefined {
    return this.spending.budget?.over;
  }

  /** Stops all lanes. */
  stop(stop: Stop, op?: OpPath): void {
    this.stops.stopAll(stop, op);
    if (stop.endsRun) this.inner.stop(stop); // DISPATCH-5
    this.pauseIfIdle();
  }

  /** Undefined while the run may begin something besides calls. Else rejects with INTERRUPTED at its pause: DISPATCH-5. */
  held(): Promise<void> | undefined {
    if (!this.stops.all?.endsRun) return undefined;
    return this.isOver ? Promise.reject(interrupted()) : this.sleepers.untilRejected();
  }

  /** Counts an effect, a lookup or the like as in flight; `ended` must be called at its end. */
  began(): void {
    this.busy++;
  }

  ended(): void {
    this.busy--;
    if (this.busy === 0) this.pauseIfIdle();
  }

  /** Resolves when the attempt may start; rejects with INTERRUPTED when the run is paused or must stop. */
  start(request: StartRequest): Started | Promise<Started> {
    if (this.isOver) return Promise.reject(interrupted());
    if (this.journal && !this.learned) return this.learn(this.journal).then(() => this.start(request));
    const sharing = this.journal?.sharing;
    if (sharing === undefined) return this.startHere(request);
    return startForAll(request, {
      sharing,
      start: (each) => this.startHere(each),
      startAgain: (started, each) => this.startAgain(started, each),
      monotonicMs: this.ports.monotonicMs,
    });
  }

  private startAgain({ op, lane, charge }: Started, request: StartRequest): Started | Promise<Started> {
    this.inFlight.delete(op);
    if (charge) this.spending.budget?.release(charge);
    this.lanes.open(lane).announced.takeBack();
    const again = this.startHere(request);
    this.madeRoom(); // where it waits now, its place is free for calls of other lanes
    return again;
  }

  private startHere(request: StartRequest): Started | Promise<Started> {
    if (this.isOver) return Promise.reject(interrupted());
    const lane = this.lanes.open(request.lane);
    const isInner = this.inFlight.isInner(request.op);
    if (lane.waiting.length === 0 || isInner) {
      const started = this.tryStart(lane, request, isInner, undefined);
      if (started && started !== 'not of this function') return started;
    }
    return new Promise((resolve, reject) => {
      lane.waiting.add({ request, sinceMs: this.ports.monotonicMs(), isInner, waitedForGap: false, resolve, reject });
      this.journal?.sharing?.follow(lane.name);
      // The attempts around it leave their places, also to calls of other lanes: PLACES-1, PLACES-2.
      if (isInner) this.pumpAll();
      else this.pump(lane);
      this.pauseIfIdle();
    });
  }

  private learn({ learn, sharing }: DispatchRecord): Promise<void> {
    this.learning ??= Promise.all([learn().catch((): LearnedPace => ({ lanes: new Map(), costs: new Map() })), sharing?.learn()]).then(
      ([learned]) => {
        this.learned = learned;
        this.lanes.learned = learned.lanes;
        this.spending.budget?.learn(learned.costs);
      },
    );
    return this.learning;
  }

  /** The attempt failed, and that is not recorded yet: a lane that it stops starts nothing in the meantime. */
  judged({ op, lane }: Started, failure: Failure): void {
    if (this.stopsLane(failure)) this.stops.expect(op, this.lanes.open(lane)); // DISPATCH-2
  }

  /** The attempt cost this, and that is not recorded yet: where it stops all lanes, nothing starts in the meantime. */
  priced({ op }: Started, cost: AttemptEnd['cost']): void {
    if (this.stops.stopsAll(cost)) this.stops.expect(op, 'all');
  }

  /** False when an attempt that was let go may not begin any more, because its lane was stopped since. */
  mayBegin({ lane }: Started): boolean {
    return !this.isOver && this.stops.mayBegin(this.lanes.open(lane));
  }

  private isClosed(lane: Lane<Started>): boolean {
    return this.isOver || this.stops.isClosed(lane);
  }

  /** The attempt has ended: settles its reservation and teaches the lane. */
  finish(started: Started, end: AttemptEnd): void {
    const { op, lane: name, start, charge } = started;
    const { failure, cost, headers } = end;
    const lane = this.lanes.open(name);
    this.inFlight.delete(op);
    this.spending.hasEnded ||= !this.isOver;
    const isFree = failure !== undefined && isTurnedAway(failure.class) && !cost?.usd && !cost?.tokens;
    if (charge) this.spending.budget?.settle(charge, cost ?? {}, isFree);
    const outcome = outcomeOf(failure, failure !== undefined && lane.rejectsOnly(op));
    const teach = (): void => this.lanes.teach(lane, { op, start, outcome, retryAfterMs: failure?.retryAfterMs });
    const sharing = this.journal?.sharing;
    if (sharing === undefined) teach();
    else {
      lane.limiter.left(start);
      sharing.ended(name, start, { outcome, retryAfterMs: failure?.retryAfterMs }, () => {
        teach();
        this.pumpAll();
      });
    }
    if (cost?.tokens !== undefined && cost.tokens > 0) lane.announced.hadTokens(cost.tokens);
    if (headers) this.lanes.announce(lane, headers, this.ports.monotonicMs());
    this.stops.ended(started, lane, end);
    this.madeRoom();
    this.pauseIfIdle();
  }

  /** The attempt was not executed after all: it cost nothing, and teaches nothing. */
  abandon({ op, lane, start, charge }: Started): void {
    this.inFlight.delete(op);
    if (charge) this.spending.budget?.release(charge);
    this.lanes.open(lane).limiter.left(start);
    this.lanes.open(lane).announced.takeBack();
    this.journal?.sharing?.ended(lane, start, { outcome: 'other', retryAfterMs: undefined }, () => this.pumpAll()); // SHARED-LANES-5
    this.madeRoom();
    this.pauseIfIdle();
  }

  /** True when another attempt may start in this lane, also after this failure. */
  mayTryAgain(lane: string, failure?: Failure): boolean {
    if (this.isOver || this.stops.all || this.lanes.get(lane)?.stop !== undefined) return false;
    return failure === undefined || !isStopping(failure) || this.stops.waitsOut(this.lanes.open(lane), failure);
  }

  stopsLane(failure: Failure): boolean {
    return this.stops.stopsLane(failure);
  }

  /** A worker's attempt of a call of this run failed: a lane that it stops is stopped here. team-store.md 7.2. */
  failedElsewhere({ op, lane }: Pick<Started, 'op' | 'lane'>, failure: Failure): void {
    this.stops.stopFor(op, this.lanes.open(lane), failure);
  }

  /** Resolves when the call may be offered to workers: its lane is not stopped. Rejects with INTERRUPTED as `start` does. */
  async whenOpen(request: StartRequest): Promise<void> {
    const lane = this.lanes.get(request.lane);
    while (lane?.waitsForReset) await this.sleep(Math.max(lane.waitMs(this.ports.monotonicMs()), IDLE_CONFIRM_MS));
    if (this.isOver || this.stops.all || lane?.isClosed) await this.refuse(request);
  }

  /** Waits for the pause of the run: for a call whose lane was stopped. Rejects with INTERRUPTED. */
  refuse(request: StartRequest): Promise<never> {
    if (this.isOver) return Promise.reject(interrupted());
    const [lane, isInner] = [this.lanes.open(request.lane), this.inFlight.isInner(request.op)];
    return new Promise((_, reject) => {
      lane.waiting.add({ request, sinceMs: 0, isInner, waitedForGap: false, resolve: () => reject(interrupted()), reject });
      if (isInner) this.pumpAll(); // PLACES-2
      this.pauseIfIdle();
    });
  }

  /** Resolves after the time that a call waits before its next attempt; rejects with INTERRUPTED when the run must stop. */
  async sleep(ms: number): Promise<void> {
    this.began(); // the run is not idle, because the call goes on by itself
    await this.sleepers.sleep(ms);
    this.ended();
  }

  /** No attempt starts any more, and all that wait are rejected. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.spending.spenders.delete(this);
    this.alarm.clear();
    this.idleTimer.clear();
    clearTimeout(this.budgetTimer);
    for (const lane of this.lanes) for (const { reject } of lane.drain()) reject(interrupted());
    this.sleepers.rejectAll(interrupted());
    this.ports.around?.inner.delete(this);
    this.ports.around?.pauseIfIdle();
  }

  /** True when a rejection of this attempt concerns its call alone, which then waits by itself. calls.md 12.4. */
  rejectsOnly({ op, lane }: Started): boolean {
    return this.lanes.open(lane).rejectsOnly(op);
  }

  /** Starts what may start. */
  pumpAll(): void {
    for (const lane of this.lanes) if (lane.waiting.length > 0) this.pump(lane);
  }

  /** An attempt has left its lane and the budget. */
  private madeRoom(): void {
    this.pumpAll();
    if (this.spending.spenders.size > 1) for (const other of this.spending.spenders) if (other !== this) other.pumpAll();
  }

  private pump(lane: Lane<Started>): void {
    for (const inner of lane.waiting.innerOnes()) if (!this.letGo(lane, inner)) break; // what holds one back holds all of them: PLACES-1
    const heldBack = new Set<string>();
    for (let head = lane.waiting.head(heldBack); head; head = lane.waiting.head(heldBack)) {
      const started = this.letGo(lane, head);
      if (started === 'not of this function') heldBack.add(head.request.fn);
      else if (!started) return;
    }
  }

  private letGo(lane: Lane<Started>, waiting: Waiting<Started>): ReturnType<Dispatcher['tryStart']> {
    const started = this.tryStart(lane, waiting.request, waiting.isInner === true, waiting);
    if (!started || started === 'not of this function') return started;
    lane.waiting.remove(waiting);
    waiting.resolve(started);
    return started;
  }

  /** Undefined when no attempt of the lane may start, a word when none of this function may because of the budget. */
  private tryStart(
    lane: Lane<Started>,
    request: StartRequest,
    isInner: boolean,
    waiting: Waiting<Started> | undefined,
  ): Started | 'not of this function' | undefined {
    const { ports, spending } = this;
    if (this.isClosed(lane) || this.journal?.sharing?.isSettled(lane.name) === false) return undefined;
    if (this.places.isFull(request.op, isInner)) return undefined;
    const nowMs = ports.monotonicMs();
    const waitMs = lane.waitMs(nowMs, lane.limiter.isFull ? this.places.leftTo(request.op, isInner, lane) : 0);
    if (waitMs > 0) {
      if (waiting && waitMs < Number.POSITIVE_INFINITY) {
        waiting.waitedForGap = true;
        this.alarm.at(nowMs + waitMs);
      }
      if (waitMs === Number.POSITIVE_INFINITY) this.leavePlaces(request.op);
      return undefined;
    }
    const admit = (isStuck: boolean): Admission | undefined =>
      spending.budget?.admit(request.fn, nowMs - spending.beganMs, request.maxCost, isStuck);
    const asked = admit(false);
    const admission = asked?.kind === 'wait' && this.places.isStuck(request.op) ? admit(true) : asked;
    if (admission?.kind === 'wait') return 'not of this function';
    if (admission?.kind === 'reached') {
      const { limit, needs } = admission;
      const tooLarge = needs === undefined ? undefined : { fn: request.fn, needs, spent: spending.budget?.spent };
      this.stop(budgetStop(limit, ports.settings.budget ?? {}, tooLarge), request.op);
      return undefined;
    }
    const start = lane.start(nowMs, waiting);
    lane.announced.started();
    this.inFlight.add(request.op, lane, start);
    const waitedMs = waiting === undefined ? 0 : Math.round(nowMs - waiting.sinceMs);
    const charge = admission?.reserved;
    return {
      op: request.op,
      lane: lane.name,
      start,
      charge,
      ...(waitedMs > 0 ? { waitedMs } : {}),
      ...(charge ? { reserved: charge.reservation } : {}),
    };
  }

  /** The attempts of other processes may wait just so for places that only waiting ones have here. SHARED-LANES-7 */
  private leavePlaces(op: OpPath): void {
    const sharing = this.journal?.sharing;
    if (sharing === undefined || !this.places.isStuck(op)) return;
    for (const { lane, start } of this.inFlight) sharing.left(lane.name, start);
  }

  /** DISPATCH-3 */
  pauseIfIdle(): void {
    this.ports.around?.pauseIfIdle();
    if (this.isOver || !this.isIdle()) return;
    if (this.stops.all?.endsRun) return this.pause(); // before the run does anything else
    this.idleTimer.start(this.journal?.isWriting);
  }

  private pause(): void {
    this.ports.pause();
    this.end();
  }

  private isIdle(): boolean {
    if (this.stops.all?.endsRun) return !this.isPaying(); // DISPATCH-5
    if (this.busy > 0 || !this.stops.first || this.inner.isActive) return false;
    return this.places.isIdle(this.stops.all !== undefined);
  }

  /** Something is in flight, here or in a child run, or starts by itself. */
  isActive(): boolean {
    return this.busy > 0 || this.inFlight.size > 0 || this.inner.isActive || (!this.stops.all && this.places.willStart());
  }

  /** An attempt is in flight, here or in a child run, that does not wait for one which can't start any more. */
  isPaying(): boolean {
    return this.inner.isPaying || !this.places.areAllWaiting();
  }
}
