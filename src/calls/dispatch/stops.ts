/** Knows what is stopped, and for which reason: single lanes, or all of them (DISPATCH-2). calls.md 12.7, 12.8, 13.4 and 14.3. */
import type { OpPath } from '../../../journal/ids.js';
import { uncountedBy } from '../budget/budget.js';
import type { Spending } from '../budget/spending.js';
import type { Failure } from '../failure.js';
import type { Lane } from './lane.js';
import type { AttemptEnd, DispatcherPorts, DispatchRecord, Started } from './ports.js';
import { isStopping, NO_COST, stopFact, stopOfWaiting, type RefusalToWait, type Stop } from './stop.js';

interface StopPorts extends Pick<DispatcherPorts, 'settings' | 'isServing' | 'nowMs' | 'monotonicMs'> {
  readonly spending: Spending;
  readonly record: DispatchRecord['record'];
  readonly waits: NonNullable<DispatchRecord['waits']>;
  /** Resolves after this time; rejects when the run must stop. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Called when a lane may start attempts again. */
  readonly opened: () => void;
}

export class Stops {
  private ofAll: Stop | undefined;
  /** In the order in which they came. */
  private readonly ofLanes: Stop[] = [];
  /** The attempts whose end stops their lane, or all lanes, and is not recorded yet. */
  private readonly expected = new Map<OpPath, Lane<Started> | 'all'>();

  constructor(private readonly ports: StopPorts) {}

  /** The reason for which all lanes are stopped. */
  get all(): Stop | undefined {
    return this.ofAll;
  }

  /** The first stop that is still one. */
  get first(): Stop | undefined {
    return this.ofAll ?? this.ofLanes[0];
  }

  /** The reason of a pause. */
  get reason(): Stop | undefined {
    const { spending, settings } = this.ports;
    const { budget, hasEnded } = spending;
    const { first } = this;
    if (first === undefined) return undefined;
    const others = this.ofAll ? [] : this.ofLanes.slice(1);
    const reason = others.length > 0 ? { ...first, others } : first;
    return budget && !hasEnded ? stopOfWaiting(reason, settings.budget ?? {}, budget.spent.calls) : reason;
  }

  isClosed(lane: Lane<Started>): boolean {
    return this.ofAll !== undefined || lane.isClosed || this.isExpectedFor(lane);
  }

  /** True for an attempt of the lane that was let go before. */
  mayBegin(lane: Lane<Started>): boolean {
    return (this.ofAll === undefined || this.ofAll.sparesAdmitted === true) && !lane.isClosed && !this.isExpectedFor(lane);
  }

  private isExpectedFor(lane: Lane<Started>): boolean {
    if (this.expected.size === 0) return false;
    return [...this.expected.values()].some((closed) => closed === 'all' || closed === lane);
  }

  /** The attempt is going to stop its lane, or all lanes, once its end is recorded. */
  expect(op: OpPath, lane: Lane<Started> | 'all'): void {
    this.expected.set(op, lane);
  }

  /** The attempt has ended, and what it stops is stopped from now on. */
  ended({ op, start }: Started, lane: Lane<Started>, { failure, cost }: AttemptEnd): void {
    this.expected.delete(op);
    if (failure) {
      this.stopIfStalled(op, start, lane, failure);
      if (this.stopsLane(failure)) this.stopFor(op, lane, failure);
    }
    if (this.stopsAll(cost)) this.stopAll(NO_COST, op);
  }

  stopsLane(failure: Failure): boolean {
    return !this.ports.isServing && isStopping(failure);
  }

  /** calls.md 13.4 */
  stopsAll(cost: AttemptEnd['cost']): boolean {
    const { budget, budgetStrict } = this.ports.settings;
    return budgetStrict === true && uncountedBy(budget, cost).length > 0;
  }

  stopAll(stop: Stop, op: OpPath | undefined): void {
    if (this.ofAll && (this.ofAll.endsRun || !stop.endsRun)) return;
    this.ofAll = stop;
    this.ports.record(stopFact(stop, op));
  }

  private stopIfStalled(op: OpPath, start: Started['start'], lane: Lane<Started>, failure: Failure): void {
    const { isServing, monotonicMs, settings } = this.ports;
    if (lane.isClosed || isServing || !lane.isStalledBy(failure, start, monotonicMs(), settings.stallAfterMs)) return;
    const { name } = lane;
    this.stopLane(op, lane, { class: 'stalled', lane: name, message: `${name} gave no result for too long: ${failure.message}` });
  }

  /** A lane whose allowance is there again soon is only held. */
  stopFor(op: OpPath, lane: Lane<Started>, failure: Failure): void {
    const { class: stopClass, message, resetsAtMs } = failure;
    if (lane.stop || !isStopping(failure)) return;
    const stop = { class: stopClass as 'quota' | 'auth', lane: lane.name, message, ...(resetsAtMs === undefined ? {} : { resetsAtMs }) };
    const refusal = this.refusalToWait(lane, failure);
    if (refusal) return this.stopLane(op, lane, { ...stop, ...(refusal !== 'not asked' && { notWaited: refusal }) });
    const { nowMs, monotonicMs, record, waits, sleep, opened } = this.ports;
    const leftMs = Math.max(0, (resetsAtMs ?? 0) - nowMs());
    if (lane.waitsForReset) return; // several attempts were in flight when the allowance was used up
    lane.waitForReset(leftMs);
    record(stopFact(stop, op));
    if (leftMs > 0) waits(lane.name, nowMs() + leftMs, 'quota');
    lane.limiter.holdUntil(monotonicMs() + leftMs);
    void sleep(leftMs).then(
      () => {
        lane.waitsForReset = false;
        record({ type: 'dispatch.resumed', lane: lane.name });
        opened();
      },
      () => undefined, // the run is over, and its end is reported by what ended it
    );
  }

  /** True where the lane is only held until its allowance is there again. */
  waitsOut(lane: Lane<Started>, failure: Failure): boolean {
    return this.refusalToWait(lane, failure) === undefined;
  }

  private refusalToWait(lane: Lane<Started>, failure: Failure): RefusalToWait | undefined {
    return lane.refusalToWait(failure, this.ports.settings.waitQuotaMs ?? 0, this.ports.nowMs());
  }

  private stopLane(op: OpPath, lane: Lane<Started>, stop: Stop): void {
    lane.stop = stop;
    this.ofLanes.push(stop);
    this.ports.record(stopFact(stop, op));
  }
}
