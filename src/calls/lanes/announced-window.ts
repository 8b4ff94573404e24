/** Counts the starts that a provider's announcements allow until their reset. calls.md 12.6. */
import type { Announced } from './announced-limits.js';

/** The tokens of so many results are averaged. */
const MEAN_OVER = 50;
/** Announcements of the same reset differ by the way that a reply took. */
const SAME_WINDOW_MS = 1000;

export class AnnouncedWindow {
  private startsLeft = Number.POSITIVE_INFINITY;
  private untilMs = 0;
  /** The reset of the last hold that was returned to the caller. */
  private returnedMs = Number.NEGATIVE_INFINITY;
  private meanTokens: number | undefined;

  /** Learns what an attempt took: input and output. */
  hadTokens(tokens: number): void {
    this.meanTokens = this.meanTokens === undefined ? tokens : this.meanTokens + (tokens - this.meanTokens) / MEAN_OVER;
  }

  /** Returns true when no attempt may start from now on, until a reset that is a new one. Both times are of the same clock. */
  announce(limits: readonly Announced[], nowMs: number): boolean {
    if (limits.length === 0) return false;
    const starts = Math.min(...limits.map(({ kind, remaining }) => this.startsFor(kind, remaining)));
    const untilMs = Math.min(...limits.map(({ resetsAtMs }) => resetsAtMs));
    // Replies arrive in another order than they were written: within one window the least that was announced counts.
    this.startsLeft = nowMs < this.untilMs && untilMs - this.untilMs < SAME_WINDOW_MS ? Math.min(this.startsLeft, starts) : starts;
    this.untilMs = untilMs;
    if (this.startsLeft > 0 || untilMs <= nowMs || Math.abs(untilMs - this.returnedMs) < SAME_WINDOW_MS) return false;
    this.returnedMs = untilMs;
    return true;
  }

  started(): void {
    this.startsLeft--;
  }

  takeBack(): void {
    this.startsLeft++;
  }

  /** Milliseconds until an attempt may start. */
  waitMs(nowMs: number): number {
    if (nowMs < this.untilMs) return this.startsLeft > 0 ? 0 : this.untilMs - nowMs;
    this.startsLeft = Number.POSITIVE_INFINITY;
    return 0;
  }

  private startsFor(kind: Announced['kind'], remaining: number): number {
    if (kind === 'requests') return remaining;
    return this.meanTokens === undefined || this.meanTokens <= 0 ? Number.POSITIVE_INFINITY : Math.floor(remaining / this.meanTokens);
  }
}
