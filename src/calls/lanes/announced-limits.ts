/** Reads from a provider's headers how much it lets through until its next reset. calls.md 12.6. */
import { durationIn, type Headers } from '../evidence/times.js';

/** The rest of one limit. */
export interface Announced {
  readonly kind: 'requests' | 'tokens';
  readonly remaining: number;
  /** Milliseconds since 1970. */
  readonly resetsAtMs: number;
}

const ANTHROPIC = /^anthropic-ratelimit-(requests|tokens|input-tokens|output-tokens)-remaining$/;
const OPENAI = /^x-ratelimit-remaining-(requests|tokens)$/;

/** Header names are in small letters. A limit without a reset, or with one that is past, is left out. */
export function announcedLimits(headers: Headers, nowMs: number): readonly Announced[] {
  return Object.entries(headers).flatMap(([name, text]): Announced[] => {
    const anthropic = ANTHROPIC.exec(name)?.[1];
    const openai = OPENAI.exec(name)?.[1];
    const limit = anthropic ?? openai;
    if (limit === undefined) return [];
    const reset = headers[anthropic === undefined ? `x-ratelimit-reset-${limit}` : `anthropic-ratelimit-${limit}-reset`];
    const remaining = Number(text);
    const resetsAtMs = reset === undefined ? Number.NaN : momentOf(reset, nowMs);
    if (!(remaining >= 0) || !(resetsAtMs > nowMs)) return [];
    return [{ kind: limit === 'requests' ? 'requests' : 'tokens', remaining, resetsAtMs }];
  });
}

/** Above this a plain number is a moment in seconds since 1970, below it a time in seconds from now. */
const EPOCH_SECONDS_MIN = 1_000_000_000;

/** `2026-01-01T00:00:00Z`, `6m0s`, `20ms`, `1767225600`, `1.5` */
function momentOf(text: string, nowMs: number): number {
  const seconds = Number(text);
  if (!Number.isNaN(seconds)) return seconds > EPOCH_SECONDS_MIN ? seconds * 1000 : nowMs + seconds * 1000;
  const waitMs = /[a-z]/.test(text) ? durationIn(text) : undefined;
  return waitMs === undefined ? Date.parse(text) : nowMs + waitMs;
}
