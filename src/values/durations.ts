/** Reads durations: a number of milliseconds, or a text such as `500ms`, `1.5s`, `2h`. */
import { MlldError, type SourceLocation } from '../errors.js';
import { dataOf, type Value } from './value.js';

const UNITS_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Returns milliseconds. Throws BAD_DURATION, also for a negative number. */
export function durationOf(value: Value, location?: SourceLocation): number {
  const data = dataOf(value);
  const ms = typeof data === 'number' ? data : typeof data === 'string' ? parseDuration(data) : undefined;
  if (ms === undefined || !Number.isFinite(ms) || ms < 0) {
    throw new MlldError('BAD_DURATION', `Not a duration: ${JSON.stringify(data)}`, {
      location,
      hint: 'write 500ms, 30s, 5m, 1h, 1d, 2w or a number of milliseconds',
    });
  }
  return ms;
}

/** Returns milliseconds; undefined for a text that is not a duration. */
export function parseDuration(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)?\s*$/.exec(text);
  return match ? Number(match[1]) * (UNITS_MS[match[2] ?? 'ms'] ?? 1) : undefined;
}
