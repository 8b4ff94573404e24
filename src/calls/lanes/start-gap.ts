/**
 * Holds the least time between two starts of a lane: none until a rate was too high. Grows with each rejection of that kind, and shrinks
 * with starts that waited for it. calls.md 12.2 and 12.4.
 */
import type { RecentResults } from './recent-results.js';

const STARTS_TO_SHRINK = 5;
const STARTS_TO_TRY = 100;
const STARTS_TO_TRY_MAX = 150;
const TRY_AFTER_MS = 30_000;
const STARTS_TO_TRY_FASTER = 20;
/** The parts by which one trial after the other makes it smaller. */
const TRIALS: readonly number[] = [0.03, 0.06, 0.12, 0.25, 0.4];
export const GAP_GROWTH = 1.05;
const GROWTH_MAX = 3;
const GROWTH_IF_FRUITLESS = 1.3;
/** It may shrink to this part of the one at which the last rejection came, once a call turns out to be rejected for what it asks. */
const FORGIVEN = 0.5;
/** A gap that shrinks is returned to the caller when it is below this part of what the caller knows. */
const SHRUNK = 0.9;

/** Says at which rate attempts were too fast. */
interface TooFast {
  readonly nowMs: number;
  /** The mean time of a start; undefined where too few were accepted to tell. */
  readonly measuredMs: number | undefined;
  /** Nothing but rejections came since the last growth. */
  readonly isFruitless: boolean;
  /** It grows no further, where it is not beyond this already. */
  readonly mostMs: number;
}

export class StartGap {
  /** As the caller knows it. */
  private returnedMs: number | undefined;
  /** The gap at which the last rejection came: below it there is only trying. */
  private rejectedMs: number | undefined;
  /** Starts that waited for it, since it last changed or a trial began. */
  private starts = 0;
  private trial = -1;
  private trialBaseMs = 0;
  private trialSinceMs = 0;
  private startsToTry = STARTS_TO_TRY;

  constructor(private gapMs: number | undefined) {
    this.returnedMs = gapMs;
    this.rejectedMs = gapMs === undefined ? undefined : gapMs / GAP_GROWTH;
  }

  get ms(): number | undefined {
    return this.gapMs;
  }

  /** True when it is so much smaller that the caller must know. */
  get hasShrunk(): boolean {
    return this.gapMs !== undefined && this.gapMs < (this.returnedMs ?? this.gapMs) * SHRUNK;
  }

  returned(): void {
    this.returnedMs = this.gapMs;
  }

  /** A rate was too high for the first time. */
  begin(ms: number, nowMs: number): void {
    this.setMeasured(ms);
    this.endTrial(nowMs);
  }

  /** The measurement it began with was too small. */
  correct(ms: number): void {
    this.setMeasured(Math.max(this.gapMs ?? 0, ms));
  }

  private setMeasured(ms: number): void {
    this.gapMs = ms;
    this.rejectedMs = ms / GAP_GROWTH;
  }

  widen(gapMs: number, { nowMs, measuredMs, isFruitless, mostMs }: TooFast): void {
    const isTrial = this.trial >= 0;
    if (isTrial) this.startsToTry = Math.min(this.startsToTry * 2, STARTS_TO_TRY_MAX);
    const wantedMs = measuredMs ?? gapMs * (isFruitless ? GROWTH_IF_FRUITLESS : GAP_GROWTH);
    const longerMs = clamp(wantedMs, isTrial ? this.trialBaseMs : gapMs * GAP_GROWTH, GROWTH_MAX * gapMs);
    // A trial may have met a limit that rose since: the rate then lies between the measured one and that of the trial.
    this.rejectedMs = isTrial || measuredMs === undefined ? gapMs : longerMs / GAP_GROWTH;
    this.gapMs = Math.min(longerMs, Math.max(gapMs, mostMs));
    this.endTrial(nowMs);
  }

  private endTrial(nowMs: number): void {
    this.trial = -1;
    this.starts = 0;
    this.trialSinceMs = nowMs;
  }

  /** The rate of an allowance that was used up and came back. It shrinks to the one until the rejection: `rejectedMs`. */
  recover(ms: number, rejectedMs: number): void {
    this.gapMs = ms;
    this.rejectedMs = rejectedMs / GAP_GROWTH;
    this.starts = 0;
  }

  /** A call had widened it that is rejected for what it asks. */
  forgive(): void {
    if (this.rejectedMs !== undefined) this.rejectedMs *= FORGIVEN;
  }

  /** A start waited for it: it gets smaller, carefully below the one at which the last rejection came. */
  shrink(nowMs: number, recent: RecentResults): void {
    if (this.gapMs === undefined) return;
    this.starts++;
    const floorMs = (this.rejectedMs ?? 0) * GAP_GROWTH;
    if (this.trial < 0 && this.gapMs > floorMs * 1.001) {
      if (this.starts % STARTS_TO_SHRINK === 0) this.gapMs = Math.max(floorMs, this.gapMs * 0.9);
      if (this.gapMs <= floorMs * 1.001) [this.starts, this.trialSinceMs] = [0, nowMs];
      return;
    }
    // A long gap waits for no number of starts until a trial has failed: with one of 30 s, twenty would take ten minutes.
    const isLong = this.startsToTry === STARTS_TO_TRY && nowMs - this.trialSinceMs >= TRY_AFTER_MS;
    const isDue = isLong || this.starts >= (this.trial < 0 ? this.startsToTry : STARTS_TO_TRY_FASTER);
    if (!isDue || !recent.hasSince(this.trialSinceMs)) return;
    this.trial = Math.min(this.trial + 1, TRIALS.length - 1);
    this.trialBaseMs = this.gapMs;
    this.gapMs *= 1 - (TRIALS[this.trial] ?? 0);
    this.starts = 0;
    this.trialSinceMs = nowMs;
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
