/** The attempts that share a rate limit: those that wait, and when the next may start. calls.md 12. */
import type { CallFact } from '../../../journal/facts/call-event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { Cost } from '../budget/budget.js';
import type { Failure } from '../failure.js';
import { AnnouncedWindow } from '../lanes/announced-window.js';
import { Limiter } from '../lanes/limiter.js';
import type { LaneChange, LaneLimits, LimiterOptions, Start } from '../lanes/lane-limits.js';
import type { AttemptOutcome } from '../lanes/lane-sharing.js';
import type { CallSettings, LaneSettings } from '../options.js';
import type { RecordedChange } from './ports.js';
import { Queue } from './queue.js';
import type { RefusalToWait, Stop } from './stop.js';

/** Asks for the start of one attempt. */
export interface StartRequest {
  readonly op: OpPath;
  readonly fn: string;
  readonly lane: string;
  readonly maxCost?: Cost;
  /** It starts before the others that wait. */
  readonly isRetry: boolean;
}

export interface Waiting<S> {
  readonly request: StartRequest;
  readonly sinceMs: number;
  readonly isInner?: boolean;
  /** The lane would have started it, but for its gap. */
  waitedForGap: boolean;
  readonly resolve: (started: S) => void;
  readonly reject: (error: Error) => void;
}

export class Lane<S> {
  readonly limiter: Limiter;
  readonly waiting = new Queue<Waiting<S>>();
  readonly announced = new AnnouncedWindow();
  stop: Stop | undefined;
  /** It is held until its allowance is there again. */
  waitsForReset = false;
  /** When an attempt had its last result. */
  private lastResultMs = Number.NEGATIVE_INFINITY;
  /** The attempts since then that had none for which the provider or the way to it is to blame, and the begin of their time. */
  private fruitless = 0;
  private fruitlessSinceMs = 0;
  /** When its last attempt ended. */
  private lastUseMs = Number.NEGATIVE_INFINITY;
  /** The resets that were waited for since the last result. */
  private resets = { count: 0, waitedMs: 0 };
  /** The calls whose last attempt was rejected: when that was, and whether it was for what they ask. */
  private readonly turnedAway = new Map<OpPath, { readonly atMs: number; readonly isOwn: boolean }>();

  constructor(
    readonly name: string,
    private readonly options: LimiterOptions,
  ) {
    this.limiter = new Limiter(options);
  }

  /** Removes all that wait, and returns them. */
  drain(): readonly Waiting<S>[] {
    const all = [...this.waiting];
    this.waiting.clear();
    return all;
  }

  /** Milliseconds until an attempt may start: 0 for now, Infinity while only the end of another one can let it start. */
  waitMs(nowMs: number, around = 0): number {
    return Math.max(this.limiter.waitMs(nowMs, around), this.announced.waitMs(nowMs));
  }

  /** True while no attempt may start, whatever its limits are. */
  get isClosed(): boolean {
    return this.stop !== undefined || this.waitsForReset;
  }

  private hadResult(nowMs: number): void {
    this.lastResultMs = nowMs;
    this.fruitless = 0;
    if (this.resets.count > 0) this.resets = { count: 0, waitedMs: 0 };
  }

  /**
   * Returns why the run does not wait until the allowance is there again; undefined where it does. One that gives no result after each
   * reset is not tried for ever. calls.md 12.7.
   */
  refusalToWait({ class: failureClass, resetsAtMs }: Failure, mostMs: number, nowMs: number): RefusalToWait | undefined {
    if (failureClass !== 'quota' || mostMs === 0) return 'not asked';
    if (resetsAtMs === undefined) return 'no time';
    if (resetsAtMs - nowMs > mostMs) return 'too late';
    if (this.waitsForReset) return undefined;
    const isTriedOn = this.resets.count < RESETS_MAX && this.resets.waitedMs + Math.max(0, resetsAtMs - nowMs) <= mostMs;
    return isTriedOn ? undefined : 'no result';
  }

  waitForReset(leftMs: number): void {
    this.waitsForReset = true;
    this.fruitless = 0; // the provider said when it works again
    this.resets = { count: this.resets.count + 1, waitedMs: this.resets.waitedMs + leftMs };
  }

  /**
   * Returns true when a rejection of this call says nothing about the pace: others that were begun after its last rejection were
   * accepted. It stays so until the call gets a result.
   */
  rejectsOnly(op: OpPath): boolean {
    const last = this.turnedAway.get(op);
    return last !== undefined && (last.isOwn || this.limiter.acceptedSince(last.atMs) >= OTHERS_ACCEPTED);
  }

  private wasRejected(op: OpPath, nowMs: number): void {
    this.turnedAway.set(op, { atMs: nowMs, isOwn: this.rejectsOnly(op) });
  }

  private hadOtherEnd(op: OpPath): void {
    this.turnedAway.delete(op);
  }

  /** To be called only when `waitMs` is 0; `waiting` is undefined where the attempt did not wait. */
  start(nowMs: number, waiting: Waiting<S> | undefined): Start {
    if (this.fruitless > 0 && this.limiter.isUnused) this.leaveOut((waiting?.sinceMs ?? nowMs) - this.lastUseMs);
    return this.limiter.start(nowMs, waiting === undefined ? 'not' : waiting.waitedForGap ? 'for the gap' : 'otherwise');
  }

  /** Makes what is longer than a call waits by itself no part of the time without a result. */
  private leaveOut(restMs: number): void {
    this.fruitlessSinceMs += Math.max(0, restMs - this.options.backoff.maxMs);
  }

  learn({ op, start, outcome, retryAfterMs }: Lesson, nowMs: number): LaneChange | undefined {
    this.lastUseMs = nowMs;
    if (outcome === 'alone' || outcome === 'rejected') {
      const change =
        outcome === 'alone' ? this.limiter.rejectedAlone(start, nowMs, retryAfterMs) : this.limiter.rejected(start, nowMs, retryAfterMs);
      this.wasRejected(op, nowMs);
      return change;
    }
    this.hadOtherEnd(op);
    if (outcome === 'other') {
      this.limiter.left(start);
      return undefined;
    }
    const change = this.limiter.accepted(start, nowMs);
    this.hadResult(nowMs);
    return change;
  }

  /**
   * Returns true when the lane gives nothing but rejections for too long. The time in which it was not used counts for nothing.
   * calls.md 12.8.
   */
  isStalledBy(failure: Failure, { atMs }: Pick<Start, 'atMs'>, nowMs: number, stallAfterMs: number): boolean {
    if (failure.class !== 'rate-limit' && failure.class !== 'overloaded' && failure.class !== 'network') return false;
    const sinceMs = Math.max(this.lastResultMs, atMs);
    this.fruitlessSinceMs = this.fruitless === 0 ? sinceMs : Math.min(this.fruitlessSinceMs, sinceMs);
    this.fruitless++;
    return this.fruitless >= FRUITLESS_MIN && nowMs - this.fruitlessSinceMs >= stallAfterMs;
  }
}

/** The end of an attempt, as its lane learns from it. */
export interface Lesson {
  readonly op: OpPath;
  readonly start: Start;
  readonly outcome: AttemptOutcome;
  readonly retryAfterMs: number | undefined;
}

/** `isOwn`: a rejection concerns the call alone. */
export function outcomeOf(failure: Failure | undefined, isOwn: boolean): AttemptOutcome {
  switch (failure?.class) {
    case 'rate-limit':
    case 'overloaded':
      return isOwn ? 'alone' : 'rejected';
    case 'network':
    case 'quota':
    case 'auth':
      return 'other';
    default:
      return 'accepted';
  }
}

const FRUITLESS_MIN = 10;
const RESETS_MAX = 10;
/** So many results of others, and a rejection is about its call alone. */
const OTHERS_ACCEPTED = 2;

export interface LanePorts {
  readonly settings: CallSettings;
  readonly random: () => number;
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
}

/** `learned` is what an earlier run has learned; the moment in it is one of the wall clock. */
export function openLane<S>(name: string, { settings, random, monotonicMs, nowMs }: LanePorts, learned: LaneLimits | undefined): Lane<S> {
  const { max = Number.POSITIVE_INFINITY, start } = laneSettings(name, settings);
  const heldUntilMs = learned?.heldUntilMs === undefined ? undefined : learned.heldUntilMs - nowMs() + monotonicMs();
  return new Lane<S>(name, {
    max,
    backoff: settings.backoff,
    random,
    ...(start === undefined ? {} : { start }),
    ...(learned ? { learned: heldUntilMs === undefined ? learned : { ...learned, heldUntilMs } } : {}),
  });
}

/** Returns the settings of the first pattern that fits: a name, or a beginning that ends with `*`. calls.md 12.1. */
function laneSettings(name: string, { lanes }: Pick<CallSettings, 'lanes'>): LaneSettings {
  const fits = (pattern: string): boolean => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern);
  return lanes.find(([pattern]) => fits(pattern))?.[1] ?? {};
}

/** `nowMs` is that of the clock in which the change holds the lane; the fact names moments of the wall clock. */
export function laneFact(
  lane: string,
  { heldUntilMs, ...change }: RecordedChange,
  nowMs: number,
  wallMs: () => number,
): Extract<CallFact, { type: 'lane.changed' }> {
  const isHeld = heldUntilMs !== undefined && heldUntilMs > nowMs;
  const heldUntil = isHeld ? { heldUntil: new Date(wallMs() + heldUntilMs - nowMs).toISOString() } : {};
  return { type: 'lane.changed', lane, ...change, ...heldUntil };
}
