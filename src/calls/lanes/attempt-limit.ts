/**
 * Holds how many attempts of a lane may be in flight, and the ceiling: the most that are known to be accepted. Grows with results, and is
 * cut where one more was too many. calls.md 12.2 to 12.4.
 */
/** Growth of the limit with a window of results. */
const GROWTH_AT_FIRST = 1;
const GROWTH = 0.5;
const PARTS_OF_WINDOW = 8;
const TRIAL_AFTER_RESULTS = 100;
/** The first ceiling was met by many starts at once: it may be a rate as well, and is tried soon. */
const TRIAL_AFTER_FIRST = 10;
const LOW_CEILING = 4;
/** Each trial that fails costs about one rejection; more results than this between two would find a limit that rose too late. */
const TRIAL_AFTER_RESULTS_MAX = 150;
/** The limit becomes this part of itself where a slower rate alone does not help. */
const REDUCED = 0.7;

export class AttemptLimit {
  private limit: number;
  /** Results in the window that must pass before the limit grows. */
  private window = 0;
  private resultsAtCeiling = 0;
  private trialAfter = TRIAL_AFTER_RESULTS;
  private trialStep = 1;
  private isTrial = false;

  constructor(
    private readonly max: number,
    start: number,
    private most: number | undefined,
  ) {
    this.limit = Math.min(max, start, most ?? Number.POSITIVE_INFINITY);
  }

  get value(): number {
    return this.limit;
  }

  get ceiling(): number | undefined {
    return this.most;
  }

  /** True while it tries to get above a ceiling which is so low that it may be a rate. */
  get triesLowCeiling(): boolean {
    return this.isTrial && this.isLow;
  }

  private get isLow(): boolean {
    return this.most !== undefined && this.most <= LOW_CEILING;
  }

  /** A result came, with so many others still in flight. `hasBeenRejected`: an attempt of the lane ever was. */
  grow(inFlight: number, hasBeenRejected: boolean): void {
    // The results of a lane of which at most half is in use say nothing about more at once.
    if (!hasBeenRejected && 2 * (inFlight + 1) <= this.limit) return;
    this.window++;
    const atCeiling = this.most !== undefined && this.limit >= this.most;
    if (atCeiling && !this.isTrial) {
      if (++this.resultsAtCeiling < this.trialAfter) return;
      this.resultsAtCeiling = 0;
      this.isTrial = true;
      this.set(this.limit + this.trialStep);
      this.window = 0;
      return;
    }
    if (this.most === undefined) return this.growSmoothly(hasBeenRejected ? GROWTH : GROWTH_AT_FIRST);
    if (this.window < this.limit) return;
    this.window = 0;
    if (this.isTrial) {
      // The window at the new limit was accepted.
      this.most = this.limit;
      this.trialStep *= 2;
      this.set(this.limit + this.trialStep);
      return;
    }
    this.set(this.limit + 1);
  }

  /**
   * No number of attempts was too high yet, so the limit must not be what slows the lane. It grows in parts of a window, because what
   * starts at once beyond the provider's limit is rejected at once.
   */
  private growSmoothly(growth: number): void {
    const part = Math.ceil(this.limit / PARTS_OF_WINDOW);
    if (this.window < part) return;
    this.window = 0;
    this.set(this.limit + Math.ceil(part * growth));
  }

  /** So many in flight were accepted, and one more was too many. */
  cut(accepted: number, hasBeenRejected: boolean): void {
    if (this.isTrial) this.trialAfter = Math.min(this.trialAfter * 2, TRIAL_AFTER_RESULTS_MAX);
    this.isTrial = false;
    this.trialStep = 1;
    this.resultsAtCeiling = 0;
    this.most = Math.max(1, Math.min(accepted, this.max));
    if (!hasBeenRejected && this.isLow) this.trialAfter = TRIAL_AFTER_FIRST;
    this.limit = this.most;
  }

  reduce(): void {
    this.set(Math.floor(this.limit * REDUCED));
  }

  /** A used-up allowance had cut it below this, and was no limit. */
  raiseTo(limit: number): void {
    this.limit = Math.max(this.limit, limit);
  }

  beginWindow(): void {
    this.window = 0;
  }

  private set(limit: number): void {
    this.limit = Math.max(1, Math.min(limit, this.max));
  }
}
