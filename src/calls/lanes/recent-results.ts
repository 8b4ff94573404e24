/** Keeps the latest results of a lane, which tell too many attempts at once from too fast ones. calls.md 12.4. */
import type { Start } from './lane-limits.js';

const RECENT_RESULTS = 64;

export class RecentResults {
  /** Their time, and the number in flight when their attempt began. Once all places are taken, the next result takes that of the oldest. */
  private readonly results: { readonly atMs: number; readonly inFlight: number; readonly startMs: number }[] = [];
  private oldest = 0;

  add({ inFlight, atMs: startMs }: Start, atMs: number): void {
    const result = { atMs, inFlight, startMs };
    if (this.results.length < RECENT_RESULTS) {
      this.results.push(result);
      return;
    }
    this.results[this.oldest] = result;
    this.oldest = (this.oldest + 1) % RECENT_RESULTS;
  }

  /** True when one came to an attempt that began with as many in flight, at this moment or later. */
  hasWith(inFlight: number, sinceMs: number): boolean {
    return this.results.some((result) => result.inFlight >= inFlight && result.startMs >= sinceMs);
  }

  /** A rejection comes sooner than a result: with a result of an attempt that was begun since, what came before it was accepted. */
  hasSince(ms: number): boolean {
    return this.results.some(({ startMs }) => startMs >= ms);
  }

  /** Returns how many came to attempts that were begun after this moment. */
  countSince(ms: number): number {
    return this.results.reduce((count, { startMs }) => (startMs > ms ? count + 1 : count), 0);
  }

  /** Infinity where there are too few. */
  meanDistanceMs(): number {
    const first = this.results[this.oldest];
    const last = this.results.at(this.oldest - 1);
    return first && last && this.results.length > 1 ? (last.atMs - first.atMs) / (this.results.length - 1) : Number.POSITIVE_INFINITY;
  }
}
