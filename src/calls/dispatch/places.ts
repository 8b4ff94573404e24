/**
 * Tells which attempts in flight leave their places to others, and when nothing can start any more. calls.md 12 to 14.
 *
 * PLACES-1 An attempt that waits for a call inside it has no need of its place in lane and run until that call has ended. So calls inside
 *    others start while fewer attempts go on than the limit allows: it may have fallen since those around them began.
 * PLACES-2 A call that is inside no other waits for the ends of attempts, or those that wait would become ever more. Only attempts that
 *    wait for a call of a stopped lane leave it their places, because they never go on: it would wait for ever, and the run could not be
 *    paused.
 */
import type { OpPath } from '../../../journal/ids.js';
import { isInside, type AttemptsInFlight } from './attempts-in-flight.js';
import type { Lane } from './lane.js';
import type { Started } from './ports.js';

type AnyLane = Lane<Started>;

export class Places {
  constructor(
    private readonly lanes: Iterable<AnyLane>,
    private readonly inFlight: AttemptsInFlight<AnyLane>,
    private readonly concurrency = Number.POSITIVE_INFINITY,
  ) {}

  /** True when the run has no place for this call. `isInner`: an attempt in flight waited for it when it asked to start. */
  isFull(op: OpPath, isInner: boolean): boolean {
    const { size } = this.inFlight;
    return size >= this.concurrency && size - this.leftTo(op, isInner) >= this.concurrency;
  }

  /** Returns how many attempts leave their places to this call: those of one lane, or of all. */
  leftTo(op: OpPath, isInner: boolean, lane?: AnyLane): number {
    const { inFlight } = this;
    const waiting = isInner
      ? inFlight.around([op, ...this.innerOnes(), ...inFlight.ops()]) // PLACES-1
      : inFlight.around(this.innerOnes((its) => its.stop !== undefined)); // PLACES-2
    return lane === undefined ? waiting.length : waiting.filter((attempt) => attempt.lane === lane).length;
  }

  /** All that is in flight waits for calls inside it: for this one, or for others that wait. */
  isStuck(op: OpPath): boolean {
    const { inFlight } = this;
    return inFlight.size > 0 && inFlight.around([op, ...this.innerOnes()]).length === inFlight.size;
  }

  private innerOnes(isMeant: (lane: AnyLane) => boolean = () => true): readonly OpPath[] {
    const found: OpPath[] = [];
    for (const lane of this.lanes) if (isMeant(lane)) for (const { request } of lane.waiting.innerOnes()) found.push(request.op);
    return found;
  }

  /** A call waits in a lane that is not stopped. */
  willStart(): boolean {
    for (const lane of this.lanes) if (lane.waiting.length > 0 && !lane.stop) return true;
    return false;
  }

  /** Something waits for a lane that was stopped, and nothing in flight could let the script go on. */
  isIdle(isAllStopped: boolean): boolean {
    const stuck: OpPath[] = [];
    for (const lane of this.lanes) {
      if (lane.waiting.length === 0) continue;
      if (!isAllStopped && !lane.stop) return false; // it starts by itself
      for (const { request } of lane.waiting) stuck.push(request.op);
    }
    return stuck.length > 0 && this.areAllAround(stuck);
  }

  /** True when no attempt in flight could go on: there is none, or each waits for a call inside it. */
  areAllWaiting(): boolean {
    const waiting: OpPath[] = [];
    for (const lane of this.lanes) for (const { request } of lane.waiting) waiting.push(request.op);
    return this.areAllAround(waiting);
  }

  private areAllAround(waiting: readonly OpPath[]): boolean {
    return this.inFlight.every((op) => waiting.some((each) => each === op || isInside(each, op)));
  }
}
