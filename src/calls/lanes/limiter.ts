/**
 * Decides when the attempts of one lane may start. It learns the limits of a provider, which are not announced, from accepted and rejected
 * attempts.
 * Pure but for its own state: time and chance come in as arguments. calls.md 12.2 to 12.5.
 *
 * LIMITER-1 Attempts in flight never exceed the limit, but for those that wait for a call inside them. Two starts are never closer than
 *    the gap.
 * LIMITER-2 A rejection of an attempt that had started before the last cut changes nothing but the hold: it reflects earlier limits.
 * LIMITER-3 Every change of limit, ceiling, gap or hold is returned to the caller, which records it; a later run needs only the last one.
 *    A limit grows and a gap shrinks by so little at a time that several such changes are returned as one.
 */
import { AttemptLimit, LOW_CEILING } from './attempt-limit.js';
import type { LaneChange, LaneLimits, LimiterOptions, Measure, Start, Waited } from './lane-limits.js';
import { RecentResults } from './recent-results.js';
import { GAP_GROWTH, StartGap } from './start-gap.js';

const LIMIT_AT_FIRST = 20;
/** Fewer results than this between two episodes: the cut did not help. */
const FEW_RESULTS = 5;
/** Starts of a trial are at least this part of the mean distance of results apart. */
const SPREAD_OF_TRIAL = 0.5;
/** So many accepted starts between two episodes tell the rate of the provider. */
const STARTS_TO_MEASURE = 10;
/** So many episodes without results, each with a longer hold, and it was no burst that was too fast. */
const EPISODES_OF_ALLOWANCE = 3;
const REJECTIONS_TO_WAIT = 2;

export class Limiter {
  private readonly limit: AttemptLimit;
  private readonly gap: StartGap;
  private heldUntilMs = 0;
  private readonly flying = new Set<Start>();
  private lastStartMs = Number.NEGATIVE_INFINITY;
  /** Undefined where it was taken back. */
  private lastStart: Start | undefined;

  private started = 0;
  private episode = 0;
  private cutAtMs = Number.NEGATIVE_INFINITY;
  /** The last episode was one of too many at once. */
  private wasTooMany = false;
  private acceptedSinceEpisode = 0;
  /** Since the last episode. */
  private measured: Measure = { starts: 0, elapsedMs: 0 };
  /** Before the last episode, where that had found the rate for the first time: more of it may be rejected. */
  private firstMeasured: Measure | undefined;
  private fruitlessEpisodes = 0;
  /** The lane was held because of them. */
  private wasHeld = false;
  /** Since the lane last recovered from episodes without results: what an allowance lets through until the next one. */
  private period: Measure = { starts: 0, elapsedMs: 0 };
  /** Holds what was in force before the first of the episodes without results. */
  private beforeFruitless: { readonly limit: number; readonly ceiling: number | undefined; readonly gapMs: number } | undefined;
  /** The last start that was rejected, and the first one that was not, by the time of the period. */
  private rejectedAfterMs = 0;
  private recovery: Measure | undefined;
  /** From the start of an attempt to its rejection: the shortest time since there were results, as a busy machine makes some long. */
  private rejectionMs = Number.POSITIVE_INFINITY;
  private readonly recent = new RecentResults();

  constructor(private readonly options: LimiterOptions) {
    const { learned, start, max } = options;
    this.limit = new AttemptLimit(max, start ?? learned?.limit ?? LIMIT_AT_FIRST, learned?.ceiling);
    this.gap = new StartGap(learned?.gapMs);
    this.heldUntilMs = learned?.heldUntilMs ?? 0;
  }

  get limits(): LaneLimits {
    const { limit, gap } = this;
    return {
      limit: limit.value,
      ...(limit.ceiling === undefined ? {} : { ceiling: limit.ceiling }),
      ...(gap.ms === undefined ? {} : { gapMs: Math.round(gap.ms) }),
      ...(this.heldUntilMs > 0 ? { heldUntilMs: this.heldUntilMs } : {}),
    };
  }

  private get inFlight(): number {
    return this.flying.size;
  }

  get isUnused(): boolean {
    return this.inFlight === 0;
  }

  get isFull(): boolean {
    return this.inFlight >= this.limit.value;
  }

  /**
   * Milliseconds until an attempt may start: 0 for now, Infinity while only the end of another one can let it start. `around` is the number
   * of attempts in flight that wait for this one, and leave it their place.
   */
  waitMs(nowMs: number, around = 0): number {
    if (this.inFlight - around >= this.limit.value) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.heldUntilMs - nowMs, this.lastStartMs + Math.max(this.leastGapMs(), this.gap.ms ?? 0) - nowMs);
  }

  /** Starts are so far apart whatever the gap is. */
  private leastGapMs(): number {
    if (this.fruitlessEpisodes === 0) return this.limit.triesLowCeiling ? this.spreadMs() : 0;
    // While next to nothing is accepted, each start waits until the one before has ended, or would have been rejected.
    const hasEnded = this.lastStart !== undefined && !this.flying.has(this.lastStart);
    const untilRejectedMs = hasEnded ? 0 : REJECTIONS_TO_WAIT * this.rejectionMs;
    // The lane must not run empty where too many were in flight: after the first cut that failed, about as many start as end.
    return this.wasTooMany && this.fruitlessEpisodes === 1 ? Math.min(untilRejectedMs, this.recent.meanDistanceMs()) : untilRejectedMs;
  }

  /** To be called only when `waitMs` is 0. */
  start(nowMs: number, waited: Waited): Start {
    // A lane that nobody waits for is idle: the time says nothing about its provider.
    const { lastStartMs } = this;
    const sinceMs = Number.isFinite(lastStartMs) ? Math.max(0, nowMs - lastStartMs) : 0;
    const countedMs = waited === 'not' ? Math.min(sinceMs, this.gap.ms ?? 0) : sinceMs;
    this.measured.elapsedMs += countedMs;
    this.period.elapsedMs += countedMs;
    const before = { ...this.period };
    this.period.starts++;
    this.measured.starts++;
    this.lastStartMs = Math.max(lastStartMs, nowMs);
    if (waited === 'for the gap') this.gap.shrink(nowMs, this.recent);
    const undo = { lastStartMs, countedMs };
    const start: Start = { order: this.started++, atMs: nowMs, inFlight: this.inFlight + 1, episode: this.episode, waited, before, undo };
    this.flying.add(start);
    this.lastStart = start;
    return start;
  }

  /** The attempt did not start after all, because attempts of other processes were first. */
  takeBack(start: Start): void {
    const { atMs, episode, undo } = start;
    this.left(start);
    this.period.starts--;
    this.period.elapsedMs -= undo.countedMs;
    if (episode === this.episode) {
      this.measured.starts--;
      this.measured.elapsedMs -= undo.countedMs;
    }
    if (this.lastStartMs === atMs) this.lastStartMs = undo.lastStartMs;
    if (this.lastStart === start) this.lastStart = undefined;
  }

  /** True where one more start may be one too many: a limit was met, or is not far. */
  get isTight(): boolean {
    const { limit, gap } = this;
    return limit.ceiling !== undefined || gap.ms !== undefined || this.heldUntilMs > 0 || 2 * this.inFlight > limit.value;
  }

  /**
   * The attempt was rejected for what it asks, as its earlier ones were. The gap may shrink again, because they had widened it; only a
   * hold that the provider told begins.
   */
  rejectedAlone(start: Start, nowMs: number, retryAfterMs: number | undefined): LaneChange | undefined {
    this.wasNotInFlight(start);
    this.fruitlessEpisodes = 0;
    this.gap.forgive();
    if (retryAfterMs === undefined || nowMs + retryAfterMs <= this.heldUntilMs) return undefined;
    this.heldUntilMs = nowMs + retryAfterMs;
    return this.changed('held');
  }

  /** The attempt ended with anything but a rejection: its provider had taken it. */
  accepted(start: Start, nowMs: number): LaneChange | undefined {
    this.left(start);
    this.recent.add(start, nowMs);
    if (start.episode < this.episode) return undefined;
    this.acceptedSinceEpisode++;
    this.recovery ??= start.before;
    let hasRecovered = false;
    if (this.acceptedSinceEpisode === FEW_RESULTS) {
      hasRecovered = this.wasHeld && this.fruitlessEpisodes >= EPISODES_OF_ALLOWANCE && this.recover(this.recovery);
      this.fruitlessEpisodes = 0;
      this.rejectionMs = Number.POSITIVE_INFINITY;
    }
    this.limit.grow(start, this.inFlight, this.started);
    if (hasRecovered) return this.changed('rejected');
    return this.limit.hasGrown || this.gap.hasShrunk ? this.changed('grew') : undefined;
  }

  /** The attempt was rejected as too many or too fast, or its provider was overloaded. */
  rejected(start: Start, nowMs: number, retryAfterMs?: number): LaneChange | undefined {
    this.wasNotInFlight(start);
    this.period.starts--;
    this.rejectedAfterMs = start.before.elapsedMs;
    this.recovery = undefined;
    this.rejectionMs = Math.min(this.rejectionMs, nowMs - start.atMs);
    const heldBefore = this.heldUntilMs;
    if (retryAfterMs !== undefined) this.heldUntilMs = Math.max(this.heldUntilMs, nowMs + retryAfterMs);
    if (start.episode < this.episode) {
      if (start.episode === this.episode - 1 && this.correct()) return this.changed('rejected');
      return this.heldUntilMs > heldBefore ? this.changed('held') : undefined; // LIMITER-2
    }
    this.measured.starts--;
    this.firstMeasured = undefined;
    const isFruitless = this.episode > 0 && this.acceptedSinceEpisode < FEW_RESULTS;
    const { value: limit, ceiling } = this.limit;
    if (!isFruitless) [this.beforeFruitless, this.wasHeld] = [{ limit, ceiling, gapMs: this.gap.ms ?? 0 }, false];
    this.fruitlessEpisodes = isFruitless ? this.fruitlessEpisodes + 1 : 0;
    if (retryAfterMs !== undefined) this.beforeFruitless = undefined;
    this.wasTooMany = retryAfterMs === undefined && this.isTooMany(start);
    // The next start waits for the end of another one where too many were in flight, so that the lane need not be held.
    if (retryAfterMs === undefined && isFruitless && (this.inFlight === 0 || !this.wasTooMany)) this.hold(nowMs);
    if (this.wasTooMany) this.limit.cut(Math.max(start.inFlight - 1, this.inFlight), this.fruitlessEpisodes);
    else this.slowDown(nowMs, isFruitless, retryAfterMs !== undefined);
    this.episode++;
    this.cutAtMs = nowMs;
    this.acceptedSinceEpisode = 0;
    this.measured = { starts: 0, elapsedMs: 0 };
    return this.changed('rejected');
  }

  /**
   * An allowance was used up, and is there again: its starts, over all the time until then, tell the rate. That time is at least the
   * one until the last rejection.
   */
  private recover(recovery: Measure): boolean {
    const { period, beforeFruitless } = this;
    this.period = { starts: period.starts - recovery.starts, elapsedMs: period.elapsedMs - recovery.elapsedMs };
    if (!beforeFruitless || recovery.starts < STARTS_TO_MEASURE) return false;
    const leastMs = beforeFruitless.gapMs * GAP_GROWTH;
    const gapMs = Math.max(leastMs, Math.min(meanGapMs(recovery), this.options.backoff.maxMs));
    this.gap.recover(gapMs, Math.max(leastMs, this.rejectedAfterMs / recovery.starts));
    this.limit.restore(beforeFruitless);
    return true;
  }

  private changed(why: LaneChange['why']): LaneChange {
    this.limit.wasReturned();
    this.gap.returned();
    return { ...this.limits, why };
  }

  /** Returns how many of the latest results came to attempts that were begun after this moment. */
  acceptedSince(ms: number): number {
    return this.recent.countSince(ms);
  }

  /** The attempt is in flight no longer. It teaches nothing where it never reached a provider, or does so later. */
  left(start: Start): void {
    this.flying.delete(start);
  }

  /** Rejected attempts were in flight for none of those that were begun after them. */
  private wasNotInFlight(start: Start): void {
    for (const other of this.flying) if (other.order > start.order) other.inFlight--;
    this.left(start);
  }

  /** True when the number in flight is to blame, not the rate. */
  private isTooMany({ inFlight: begunWith, waited }: Start): boolean {
    const { recent, gap } = this;
    // It may have been overtaken by some of those that were begun later.
    const inFlight = this.inFlight >= LOW_CEILING ? Math.max(begunWith, this.inFlight + 1) : begunWith;
    if (gap.ms !== undefined && waited === 'for the gap') return !recent.hasWith(inFlight, Number.NEGATIVE_INFINITY);
    return !recent.hasWith(inFlight, this.cutAtMs) || this.limit.isLikelyMetBy(inFlight, this.fruitlessEpisodes > 0);
  }

  /** One more rejection of the last episode: returns true when it changes what that has found. */
  private correct(): boolean {
    if (!this.wasTooMany) return this.measureFirst();
    const { ceiling } = this.limit;
    this.limit.lower(this.inFlight);
    return this.limit.ceiling !== ceiling;
  }

  /** The rate was too high. */
  private slowDown(nowMs: number, isFruitless: boolean, isReported: boolean): void {
    const { gap, measured, recent, options } = this;
    const mostMs = 2 * recent.meanDistanceMs();
    if (gap.ms === undefined) {
      const first = { starts: measured.starts, elapsedMs: measured.elapsedMs + Math.max(0, this.heldUntilMs - nowMs) };
      gap.begin(Math.min(meanGapMs(first), mostMs), nowMs);
      if (isReported) this.firstMeasured = first;
    } else {
      const measuredMs = measured.starts >= STARTS_TO_MEASURE ? meanGapMs(measured) : undefined;
      gap.widen(gap.ms, { nowMs, measuredMs, isFruitless, mostMs: Math.min(options.backoff.maxMs, mostMs) });
    }
    if (this.fruitlessEpisodes >= 2) this.limit.reduce();
  }

  /** Attempts in flight counted as accepted when the rate was measured first; returns true when this one makes the gap wider. */
  private measureFirst(): boolean {
    if (!this.firstMeasured) return false;
    this.firstMeasured.starts--;
    this.gap.correct(Math.min(meanGapMs(this.firstMeasured), 2 * this.recent.meanDistanceMs()));
    return true;
  }

  /** Attempts beyond the ceiling do not start at once: their rejection would not tell whether they were too many or too fast. */
  private spreadMs(): number {
    const distanceMs = this.recent.meanDistanceMs();
    return Number.isFinite(distanceMs) ? SPREAD_OF_TRIAL * distanceMs : 0;
  }

  /** Holds the lane until then: nothing starts before. */
  holdUntil(atMs: number): void {
    this.heldUntilMs = Math.max(this.heldUntilMs, atMs);
  }

  private hold(nowMs: number): void {
    this.wasHeld = true;
    const { firstMs, maxMs } = this.options.backoff;
    const mostMs = Math.min(maxMs, firstMs * 2 ** (this.fruitlessEpisodes - 1));
    this.heldUntilMs = Math.max(this.heldUntilMs, Math.round(nowMs + mostMs * (0.5 + this.options.random() / 2)));
  }
}

function meanGapMs({ starts, elapsedMs }: { readonly starts: number; readonly elapsedMs: number }): number {
  return elapsedMs / Math.max(1, starts);
}
