/** Formats durations, times and money for people. */
import { duration } from '../../src/api/commands/words.js';

export { duration };

/** In UTC, as run ids are. */
export function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

export function money(usd: number): string {
  return `$${usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`;
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

/** Returns a dash where no call reported its cost. */
export function moneyOrDash(dollars: number | null): string {
  return dollars === null ? '-' : money(dollars);
}
