/**
 * Holds how many attempts of a lane may be in flight, and the ceiling: the most that are known to be accepted. Grows with results, and is
 * cut where one more was too many. calls.md 12.2 to 12.4.
 */
import type { Start } from './lane-limits.js';

/** Each trial that fails costs about one rejection; more results than this between two would find a limit that rose too late. */
const TRIAL_AFTER_RESULTS = 120;
/** A growth that ended at less than this multiple of the ceiling where it began had met no limit that rose, but replies on their way. */
const GROWTH_IN_VAIN = 1.5;
/** The trial after it comes after so many results for each attempt that the ceiling allows. */
const WINDOWS_AFTER_GROWTH_IN_VAIN = 6;
/** The first ceiling was met by many starts at once: it may be a rate as well, and is tried soon. */
const TRIAL_AFTER_FIRST = 10;
/** At most so many at once may be a rate. */
export const LOW_CEILING = 8;
/** Above this part of the ceiling that was found last, the limit is met now and then: results that are on their way free places early. */
const NEAR = 0.95;
/** The limit becomes this part of itself with the second and with each further episode without results between. */
const FALLEN = 0.8;
const FALLEN_AGAIN = 0.5;
/** The limit becomes this part of itself where a slower rate alone does not help. */
const REDUCED = 0.7;
/** Growth by less than this part is returned to the caller later. */
const PART_TO_RETURN = 1 / 8;

export class AttemptLimit {
  private limit: number;
  private resultsAtCeiling = 0;
  private trialAfter: number;
  /** The first start of the trial. */
  private trialFrom = 0;
  /** The ceiling at which the growth began that goes on, or had ended last. */
  private grewFrom: number | undefined;
  /** The ceiling as the last cut after a growth had found it: single rejections may have lowered it since. */
  private found: number;
  /** As the caller knows them. */
  private returned: { readonly limit: number; readonly most: number | undefined };

  constructor(
    private readonly max: number,
    start: number,
    private most: number | undefined,
  ) {
    this.limit = Math.min(max, start, most ?? Number.POSITIVE_INFINITY);
    this.trialAfter = most === undefined ? TRIAL_AFTER_FIRST : TRIAL_AFTER_RESULTS;
    this.found = most ?? 0;
    this.returned = { limit: this.limit, most };
  }

  get value(): number {
    return this.limit;
  }

  get ceiling(): number | undefined {
    return this.most;
  }

  /** True when it has grown so much that the caller must know. */
  get hasGrown(): boolean {
    const { limit, most } = this.returned;
    return this.most !== most || this.limit >= limit + Math.ceil(limit * PART_TO_RETURN);
  }

  wasReturned(): void {
    this.returned = { limit: this.limit, most: this.most };
  }

  /** True while it tries to get above a ceiling which is so low that it may be a rate. */
  get triesLowCeiling(): boolean {
    return this.isTrial && this.most !== undefined && this.most <= LOW_CEILING;
  }

  private get isTrial(): boolean {
    return this.most !== undefined && this.limit > this.most;
  }

  /** A result came to this attempt. So many others are in flight, and so many were begun. */
  grow({ order, inFlight: begunWith }: Start, inFlight: number, started: number): void {
    // The results of a lane of which at most half is in use say nothing about more at once.
    if (2 * (inFlight + 1) <= this.limit) return;
    if (this.most === undefined || this.limit < this.most) return this.set(this.limit + 1);
    if (this.isTrial) {
      // A rejection comes sooner than a result: all that were begun beyond the ceiling before this one were accepted.
      if (order < this.trialFrom || begunWith <= this.most) return;
      this.grewFrom = this.most;
      this.most = undefined;
      return;
    }
    if (++this.resultsAtCeiling < this.trialAfterOf(this.most)) return;
    this.resultsAtCeiling = 0;
    this.trialFrom = started;
    this.set(this.most + 1);
  }

  private trialAfterOf(ceiling: number): number {
    const isInVain = this.grewFrom !== undefined && ceiling < GROWTH_IN_VAIN * this.grewFrom;
    return isInVain ? Math.max(this.trialAfter, WINDOWS_AFTER_GROWTH_IN_VAIN * ceiling) : this.trialAfter;
  }

  /** So many in flight were accepted, and one more was too many; before it came so many such episodes without results between. */
  cut(accepted: number, fruitlessEpisodes: number): void {
    const isNew = this.most === undefined || this.isTrial || fruitlessEpisodes > 0;
    if (this.isTrial) [this.trialAfter, this.grewFrom] = [TRIAL_AFTER_RESULTS, undefined];
    this.resultsAtCeiling = 0;
    this.most = Math.max(1, Math.min(accepted, this.max));
    if (isNew) this.found = this.most;
    this.limit = this.most;
    if (fruitlessEpisodes > 0) this.reduce(fruitlessEpisodes === 1 ? FALLEN : FALLEN_AGAIN);
  }

  /** Another attempt of those that had been begun before the last cut was too many; so many are still in flight. */
  lower(inFlight: number): void {
    if (this.most === undefined) return;
    this.most = Math.max(1, Math.min(this.most, Math.max(this.most - 1, inFlight)));
    this.found = Math.min(this.found, this.most);
    this.limit = Math.min(this.limit, this.most);
  }

  /** True where one less at once is the likely remedy, although as many were accepted before. */
  isLikelyMetBy(inFlight: number, isFruitless: boolean): boolean {
    return inFlight > LOW_CEILING && (isFruitless || inFlight >= NEAR * this.found);
  }

  reduce(part = REDUCED): void {
    this.set(Math.floor(this.limit * part));
  }

  /** A used-up allowance had cut them below these, and was no limit. */
  restore({ limit, ceiling }: { readonly limit: number; readonly ceiling: number | undefined }): void {
    this.limit = Math.max(this.limit, limit);
    this.most = ceiling;
  }

  private set(limit: number): void {
    this.limit = Math.max(1, Math.min(limit, this.max));
  }
}
