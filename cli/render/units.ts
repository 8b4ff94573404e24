/** Formats durations, times and money for people. */
import { duration } from '../../src/api/commands/words.js';

export { duration };

/** In UTC, as run ids are. */
export function time(ms: number): string {
  if (Number.isNaN(ms)) return 'unknown time'; // a journal may hold any text as a time
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** `$1.37`, `$0.0042` below a cent; what would be rounded to nothing is `<$0.0001`, because only 0 costs nothing. calls.md 10.6. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.00005) return '<$0.0001';
  return `$${usd !== 0 && Math.abs(usd) < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** Formats a size of data. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${(bytes / 1000).toFixed(1)} kB`;
  return bytes < 999_500_000 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Returns a dash where the duration is not known. */
export function durationOrDash(ms: number | null): string {
  return ms === null ? '-' : duration(ms);
}

export interface CostOfCalls {
  readonly costUsd: number | null;
  readonly unpriced: number | null;
  /** Calls that were executed, and those that failed: absent where only what was paid counts. */
  readonly executed?: number | null;
  readonly failed?: number | null;
}

/**
 * Returns what calls cost, null where that is not known. No attempt need have reported a cost: one that a provider turned away and one that
 * only made calls are known to be free, and so is a result of an earlier run that guards judged. calls.md 10.5.
 */
export function knownCost({ costUsd, unpriced, executed, failed }: CostOfCalls): number | null {
  return costUsd ?? (unpriced === 0 && (executed ?? 0) + (failed ?? 0) > 0 ? 0 : null);
}

/** `$1.37 + 12 unpriced`; a dash where nothing is known. */
export function costOrDash(cost: CostOfCalls): string {
  const usd = knownCost(cost);
  const { unpriced } = cost;
  return usd === null || unpriced === null || unpriced === 0 ? moneyOrDash(usd) : `${money(usd)} + ${unpriced} unpriced`;
}

/** Returns a dash where no call reported its cost. */
export function moneyOrDash(dollars: number | null): string {
  return dollars === null ? '-' : money(dollars);
}
