/**
 * Decides when the attempts of one lane may start. It learns the limits of a provider, which are not announced, from accepted and rejected
 * attempts.
 * Pure but for its own state: time and chance come in as arguments. calls.md 12.2 to 12.5.
 *
 * LIMITER-1 Attempts in flight never exceed the limit, but for those that wait for a call inside them. Two starts are never closer than
 *    the gap.
 * LIMITER-2 A rejection of an attempt that had started before the last cut changes nothing but the hold: it reflects earlier limits.
 * LIMITER-3 Every change of limit, ceiling, gap or hold is returned to the caller, which records it; a later run needs only the last one.
 *    A gap shrinks by so little at a time that several such changes are returned as one.
 */
import type { LaneChange, LaneLimits, LimiterOptions, Measure, Start, Waited } from './lane-limits.js';
import { RecentResults } from './recent-results.js';

const LIMIT_AT_FIRST = 20;
/** Growth of the limit with a window of results. */
const GROWTH_OF_LIMIT_AT_FIRST = 1;
const GROWTH_OF_LIMIT = 0.5;
const PARTS_OF_WINDOW = 8;
/** Fewer results than this between two episodes: the cut did not help. */
const FEW_RESULTS = 5;
const TRIAL_AFTER_RESULTS = 100;
/** The first ceiling was met by many starts at once: it may be a rate as well, and is tried soon. */
const TRIAL_AFTER_FIRST = 10;
const LOW_CEILING = 4;
/** Starts of a trial are at least this part of the mean distance of results apart. */
const SPREAD_OF_TRIAL = 0.5;
/** Each trial that fails costs about one rejection; more results than this between two would find a limit that rose too late. */
const TRIAL_AFTER_RESULTS_MAX = 150;
const STARTS_TO_SHRINK = 5;
const STARTS_TO_TRY = 100;
const STARTS_TO_TRY_MAX = 150;
const TRY_AFTER_MS = 30_000;
const STARTS_TO_TRY_FASTER = 20;
/** So many accepted starts between two episodes tell the rate of the provider. */
const STARTS_TO_MEASURE = 10;
const GAP_GROWTH = 1.05;
const GAP_GROWTH_MAX = 3;
/** So many episodes without results, each with a longer hold, and it was no burst that was too fast. */
const EPISODES_OF_ALLOWANCE = 3;
const REJECTIONS_TO_WAIT = 2;
const GAP_GROWTH_IF_FRUITLESS = 1.3;
/** A gap may shrink to this part of the one at which the last rejection came, once a call turns out to be rejected for what it asks. */
const FORGIVEN_GAP = 0.5;
/** A gap that shrinks is returned to the caller when it is below this part of what the caller knows. */
const GAP_SHRUNK = 0.9;
const GAP_TRIALS: readonly number[] = [0.03, 0.06, 0.12, 0.25, 0.4];

export class Limiter {
  private limit: number;
  private ceiling: number | undefined;
  private gapMs: number | undefined;
  private heldUntilMs = 0;
  private readonly flying = new Set<Start>();
  private lastStartMs = Number.NEGATIVE_INFINITY;

  private hasBeenRejected: boolean;
  private episode = 0;
  private acceptedSinceEpisode = 0;
  /** Since the last episode. */
  private measured: Measure = { starts: 0, elapsedMs: 0 };
  /** Before the last episode, where that had found the rate for the first time: more of it may be rejected. */
  private firstMeasured: Measure | undefined;
  private fruitlessEpisodes = 0;
  /** Since the lane last recovered from episodes without results: what an allowance lets through until the next one. */
  private period: Measure = { starts: 0, elapsedMs: 0 };
  /** Holds what was in force before the first of the episodes without results. */
  private beforeFruitless: { readonly limit: number; readonly gapMs: number } | undefined;
  /** The last start that was rejected, and the first one that was not, by the time of the period. */
  private rejectedAfterMs = 0;
  private recovery: Measure | undefined;
  /** From the start of an attempt to its rejection, lately. */
  private rejectionMs = 0;
  /** Results in the window that must pass before the limit grows. */
  private window = 0;
  private resultsAtCeiling = 0;
  private trialAfter = TRIAL_AFTER_RESULTS;
  private trialStep = 1;
  private isTrial = false;
  private readonly recent = new RecentResults();
  /** As the caller knows it. */
  private returnedGapMs: number | undefined;
  private gapStarts = 0;
  /** The gap at which the last rejection came: below it there is only trying. */
  private rejectedGapMs: number | undefined;
  private gapTrial = -1;
  private gapTrialBaseMs = 0;
  private gapTrialSinceMs = 0;
  private startsToTry = STARTS_TO_TRY;

  constructor(private readonly options: LimiterOptions) {
    const { learned, start, max } = options;
    this.limit = Math.min(max, start ?? learned?.limit ?? LIMIT_AT_FIRST);
    this.ceiling = learned?.ceiling;
    if (this.ceiling !== undefined) this.limit = Math.min(this.limit, this.ceiling);
    this.gapMs = learned?.gapMs;
    this.returnedGapMs = learned?.gapMs;
    this.rejectedGapMs = learned?.gapMs === undefined ? undefined : learned.gapMs / 1.05;
    this.heldUntilMs = learned?.heldUntilMs ?? 0;
    this.hasBeenRejected = learned?.ceiling !== undefined || learned?.gapMs !== undefined;
  }

  get limits(): LaneLimits {
    return {
      limit: this.limit,
      ...(this.ceiling === undefined ? {} : { ceiling: this.ceiling }),
      ...(this.gapMs === undefined ? {} : { gapMs: Math.round(this.gapMs) }),
      ...(this.heldUntilMs > 0 ? { heldUntilMs: this.heldUntilMs } : {}),
    };
  }

  private get inFlight(): number {
    return this.flying.size;
  }

  get isFull(): boolean {
    return this.inFlight >= this.limit;
  }

  /**
   * Milliseconds until an attempt may start: 0 for now, Infinity while only the end of another one can let it start. `around` is the number
   * of attempts in flight that wait for this one, and leave it their place.
   */
  waitMs(nowMs: number, around = 0): number {
    if (this.inFlight - around >= this.limit) return Number.POSITIVE_INFINITY;
    // While nothing is accepted, each start waits for the rejection of the one before.
    const leastGapMs =
      this.fruitlessEpisodes > 0 ? REJECTIONS_TO_WAIT * this.rejectionMs : this.isTrial && this.isLow ? this.spreadMs() : 0;
    return Math.max(0, this.heldUntilMs - nowMs, this.lastStartMs + Math.max(leastGapMs, this.gapMs ?? 0) - nowMs);
  }

  /** To be called only when `waitMs` is 0. */
  start(nowMs: number, waited: Waited): Start {
    // A lane that nobody waits for is idle: the time says nothing about its provider.
    const { lastStartMs } = this;
    const sinceMs = Number.isFinite(lastStartMs) ? Math.max(0, nowMs - lastStartMs) : 0;
    const countedMs = waited === 'not' ? Math.min(sinceMs, this.gapMs ?? 0) : sinceMs;
    this.measured.elapsedMs += countedMs;
    this.period.elapsedMs += countedMs;
    const before = { ...this.period };
    this.period.starts++;
    this.measured.starts++;
    this.lastStartMs = Math.max(lastStartMs, nowMs);
    if (waited === 'for the gap') this.shrinkGap(nowMs);
    const undo = { lastStartMs, countedMs };
    const start: Start = { atMs: nowMs, inFlight: this.inFlight + 1, episode: this.episode, waited, before, undo };
    this.flying.add(start);
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
  }

  /** True where one more start may be one too many: a limit was met, or is not far. */
  get isTight(): boolean {
    return this.ceiling !== undefined || this.gapMs !== undefined || this.heldUntilMs > 0 || 2 * this.inFlight > this.limit;
  }

  /**
   * The attempt was rejected for what it asks, as its earlier ones were. The gap may shrink again, because they had widened it; only a
   * hold that the provider told begins.
   */
  rejectedAlone(start: Start, nowMs: number, retryAfterMs: number | undefined): LaneChange | undefined {
    this.left(start);
    this.fruitlessEpisodes = 0;
    if (this.rejectedGapMs !== undefined) this.rejectedGapMs *= FORGIVEN_GAP;
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
    const before = this.limit;
    let hasRecovered = false;
    if (this.acceptedSinceEpisode === FEW_RESULTS) {
      hasRecovered = this.fruitlessEpisodes >= EPISODES_OF_ALLOWANCE && this.recover(this.recovery);
      this.fruitlessEpisodes = 0;
    }
    this.grow();
    if (hasRecovered) return this.changed('rejected');
    return this.limit > before || this.gapHasShrunk() ? this.changed('grew') : undefined;
  }

  /** The attempt was rejected as too many or too fast, or its provider was overloaded. */
  rejected(start: Start, nowMs: number, retryAfterMs?: number): LaneChange | undefined {
    this.left(start);
    this.period.starts--;
    this.rejectedAfterMs = start.before.elapsedMs;
    this.recovery = undefined;
    this.rejectionMs = nowMs - start.atMs;
    const heldBefore = this.heldUntilMs;
    if (retryAfterMs !== undefined) this.heldUntilMs = Math.max(this.heldUntilMs, nowMs + retryAfterMs);
    if (start.episode < this.episode) {
      if (start.episode === this.episode - 1 && this.measureFirst()) return this.changed('rejected');
      return this.heldUntilMs > heldBefore ? this.changed('held') : undefined; // LIMITER-2
    }
    this.measured.starts--;
    this.firstMeasured = undefined;
    const isFruitless = this.episode > 0 && this.acceptedSinceEpisode < FEW_RESULTS;
    if (!isFruitless) this.beforeFruitless = { limit: this.limit, gapMs: this.gapMs ?? 0 };
    this.fruitlessEpisodes = isFruitless ? this.fruitlessEpisodes + 1 : 0;
    if (retryAfterMs !== undefined) this.beforeFruitless = undefined;
    if (retryAfterMs === undefined && this.fruitlessEpisodes > 0) this.hold(nowMs);
    if (retryAfterMs === undefined && !this.recent.hasWith(start.inFlight)) this.cutLimit(start.inFlight - 1);
    else this.cutRate(nowMs, isFruitless, retryAfterMs !== undefined);
    this.hasBeenRejected = true;
    this.episode++;
    this.acceptedSinceEpisode = 0;
    this.measured = { starts: 0, elapsedMs: 0 };
    this.window = 0;
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
    this.gapMs = Math.max(leastMs, Math.min(meanGapMs(recovery), this.options.backoff.maxMs));
    this.rejectedGapMs = Math.max(leastMs, this.rejectedAfterMs / recovery.starts) / GAP_GROWTH;
    this.limit = Math.max(this.limit, beforeFruitless.limit);
    this.gapStarts = 0;
    return true;
  }

  private gapHasShrunk(): boolean {
    return this.gapMs !== undefined && this.gapMs < (this.returnedGapMs ?? this.gapMs) * GAP_SHRUNK;
  }

  private changed(why: LaneChange['why']): LaneChange {
    this.returnedGapMs = this.gapMs;
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

  private grow(): void {
    // The results of a lane of which at most half is in use say nothing about more at once.
    if (!this.hasBeenRejected && 2 * (this.inFlight + 1) <= this.limit) return;
    this.window++;
    const atCeiling = this.ceiling !== undefined && this.limit >= this.ceiling;
    if (atCeiling && !this.isTrial) {
      if (++this.resultsAtCeiling < this.trialAfter) return;
      this.resultsAtCeiling = 0;
      this.isTrial = true;
      this.setLimit(this.limit + this.trialStep);
      this.window = 0;
      return;
    }
    if (this.ceiling === undefined) return this.growSmoothly();
    if (this.window < this.limit) return;
    this.window = 0;
    if (this.isTrial) {
      // The window at the new limit was accepted.
      this.ceiling = this.limit;
      this.trialStep *= 2;
      this.setLimit(this.limit + this.trialStep);
      return;
    }
    this.setLimit(this.limit + 1);
  }

  /**
   * No number of attempts was too high yet, so the limit must not be what slows the lane. It grows in parts of a window, because what
   * starts at once beyond the provider's limit is rejected at once.
   */
  private growSmoothly(): void {
    const part = Math.ceil(this.limit / PARTS_OF_WINDOW);
    if (this.window < part) return;
    this.window = 0;
    this.setLimit(this.limit + Math.ceil(part * (this.hasBeenRejected ? GROWTH_OF_LIMIT : GROWTH_OF_LIMIT_AT_FIRST)));
  }

  private setLimit(limit: number): void {
    this.limit = Math.max(1, Math.min(limit, this.options.max));
  }

  private cutLimit(accepted: number): void {
    if (this.isTrial) this.trialAfter = Math.min(this.trialAfter * 2, TRIAL_AFTER_RESULTS_MAX);
    this.isTrial = false;
    this.trialStep = 1;
    this.resultsAtCeiling = 0;
    this.ceiling = Math.max(1, Math.min(accepted, this.options.max));
    if (!this.hasBeenRejected && this.isLow) this.trialAfter = TRIAL_AFTER_FIRST;
    this.limit = this.ceiling;
  }

  private cutRate(nowMs: number, isFruitless: boolean, isTold: boolean): void {
    if (this.gapTrial >= 0) this.startsToTry = Math.min(this.startsToTry * 2, STARTS_TO_TRY_MAX);
    const { gapMs } = this;
    if (gapMs === undefined) {
      const { starts, elapsedMs } = this.measured;
      const first = { starts, elapsedMs: elapsedMs + Math.max(0, this.heldUntilMs - nowMs) };
      this.gapMs = Math.min(meanGapMs(first), 2 * this.recent.meanDistanceMs());
      if (isTold) this.firstMeasured = first;
      this.rejectedGapMs = this.gapMs / GAP_GROWTH;
    } else {
      const mostMs = Math.max(gapMs, Math.min(this.options.backoff.maxMs, 2 * this.recent.meanDistanceMs()));
      const isMeasured = this.measured.starts >= STARTS_TO_MEASURE;
      const isTrial = this.gapTrial >= 0;
      const measuredMs = isMeasured ? meanGapMs(this.measured) : gapMs * (isFruitless ? GAP_GROWTH_IF_FRUITLESS : GAP_GROWTH);
      const longerMs = clamp(measuredMs, isTrial ? this.gapTrialBaseMs : gapMs * GAP_GROWTH, GAP_GROWTH_MAX * gapMs);
      // A trial may have met a limit that rose since: the rate then lies between the measured one and that of the trial.
      this.rejectedGapMs = isTrial ? gapMs : isMeasured ? longerMs / GAP_GROWTH : gapMs;
      this.gapMs = Math.min(longerMs, mostMs);
    }
    this.gapTrial = -1;
    this.gapStarts = 0;
    this.gapTrialSinceMs = nowMs;
    if (this.fruitlessEpisodes >= 2) this.setLimit(Math.floor(this.limit * 0.7));
  }

  /** Attempts in flight counted as accepted when the rate was measured first; returns true when this one makes the gap wider. */
  private measureFirst(): boolean {
    if (!this.firstMeasured || this.gapMs === undefined) return false;
    this.firstMeasured.starts--;
    this.gapMs = Math.max(this.gapMs, Math.min(meanGapMs(this.firstMeasured), 2 * this.recent.meanDistanceMs()));
    this.rejectedGapMs = this.gapMs / GAP_GROWTH;
    return true;
  }

  private get isLow(): boolean {
    return this.ceiling !== undefined && this.ceiling <= LOW_CEILING;
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
    const { firstMs, maxMs } = this.options.backoff;
    const mostMs = Math.min(maxMs, firstMs * 2 ** (this.fruitlessEpisodes - 1));
    this.heldUntilMs = Math.max(this.heldUntilMs, Math.round(nowMs + mostMs * (0.5 + this.options.random() / 2)));
  }

  /** A gap that starts wait for gets smaller, carefully below the gap at which the last rejection came. */
  private shrinkGap(nowMs: number): void {
    if (this.gapMs === undefined) return;
    this.gapStarts++;
    const floorMs = (this.rejectedGapMs ?? 0) * 1.05;
    if (this.gapTrial < 0 && this.gapMs > floorMs * 1.001) {
      if (this.gapStarts % STARTS_TO_SHRINK === 0) this.gapMs = Math.max(floorMs, this.gapMs * 0.9);
      if (this.gapMs <= floorMs * 1.001) [this.gapStarts, this.gapTrialSinceMs] = [0, nowMs];
      return;
    }
    const isDue =
      this.gapTrial < 0
        ? this.gapStarts >= this.startsToTry || (this.startsToTry === STARTS_TO_TRY && nowMs - this.gapTrialSinceMs >= TRY_AFTER_MS)
        : this.gapStarts >= STARTS_TO_TRY_FASTER;
    if (!isDue || !this.recent.hasSince(this.gapTrialSinceMs)) return;
    this.gapTrial = Math.min(this.gapTrial + 1, GAP_TRIALS.length - 1);
    this.gapTrialBaseMs = this.gapMs;
    this.gapMs *= 1 - (GAP_TRIALS[this.gapTrial] ?? 0);
    this.gapStarts = 0;
    this.gapTrialSinceMs = nowMs;
  }
}

function meanGapMs({ starts, elapsedMs }: { readonly starts: number; readonly elapsedMs: number }): number {
  return elapsedMs / Math.max(1, starts);
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
