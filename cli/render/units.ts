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

/** `$1.37 + 12 unpriced`; a dash where nothing is known. */
export function costOrDash({ costUsd, unpriced }: { readonly costUsd: number | null; readonly unpriced: number | null }): string {
  return costUsd === null || unpriced === null || unpriced === 0 ? moneyOrDash(costUsd) : `${money(costUsd)} + ${unpriced} unpriced`;
}

/** Returns a dash where no call reported its cost. */
export function moneyOrDash(dollars: number | null): string {
  return dollars === null ? '-' : money(dollars);
}
