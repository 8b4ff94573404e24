/** Moments and waits that providers name: headers, seconds since 1970, clock times, durations. calls.md 4.6, 7.6 and 12.6. */

const SECOND_MS = 1_000;
const UNIT_MS: { readonly [unit: string]: number } = {
  ms: 1,
  s: SECOND_MS,
  m: 60 * SECOND_MS,
  h: 3_600 * SECOND_MS,
  d: 86_400 * SECOND_MS,
};
const DAY_MS = 86_400 * SECOND_MS;

/** A farther moment is a mistake, as milliseconds where seconds are expected; beyond 8.64e15 no date can be made of it. */
const MOMENT_MAX_MS = 1e14;
const WAIT_MAX_MS = 366 * DAY_MS;

export const isMoment = (ms: number): boolean => ms >= 0 && ms <= MOMENT_MAX_MS;

/** A longer wait is a mistake. */
export const isWait = (ms: number): boolean => ms >= 0 && ms <= WAIT_MAX_MS;

/** Header names in small letters. */
export type Headers = { readonly [name: string]: string };

/** From `retry-after-ms`, or `retry-after` as seconds or a date; undefined for a time that is past, far away or not one. */
export function retryAfterOf(headers: Headers, nowMs: number): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (exact > 0 && isWait(exact)) return Math.round(exact);
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  const waitMs = Number.isNaN(seconds) ? Date.parse(text) - nowMs : seconds * SECOND_MS;
  return waitMs > 0 && isWait(waitMs) ? Math.round(waitMs) : undefined;
}

/** Seconds since 1970 as milliseconds; undefined for a moment that is past or far away. */
export function momentOfSeconds(seconds: unknown, nowMs: number): number | undefined {
  const ms = typeof seconds === 'number' ? seconds * SECOND_MS : Number.NaN;
  return ms > nowMs && isMoment(ms) ? ms : undefined;
}

/** `3h12m4s`, `6m0s`, `20ms`, `3 hours`, `45 minutes 10 seconds`; undefined when it is no duration. */
export function durationIn(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\b/gi)];
  // `\b` does not part `12m4s`, so run-together parts are read once more without it.
  const joined = parts.length > 0 && !/\d[a-z]+\d/i.test(text) ? parts : [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)(?![a-z])/gi)];
  if (joined.length === 0) return undefined;
  return joined.reduce((sum, [, count = '0', unit = 's']) => sum + Number(count) * (UNIT_MS[unitOf(unit)] ?? 0), 0);
}

/**
 * The next moment that a clock time names: `2am (UTC)`, `14:30`, `2:05 pm (Europe/Berlin)`. Without a zone it is that of this machine.
 * Undefined when the text is no clock time or the zone is unknown.
 */
export function nextClockTime(text: string, nowMs: number): number | undefined {
  const found = /(\d{1,2})(?::(\d{2}))?\s*(am|pm)?\b(?:[^()]*\(([^)]+)\))?/i.exec(text);
  if (!found) return undefined;
  const [, hourText = '', minuteText, half, zone] = found;
  if (minuteText === undefined && half === undefined) return undefined;
  const hour = half === undefined ? Number(hourText) : (Number(hourText) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  const minute = Number(minuteText ?? 0);
  if (hour > 23 || minute > 59) return undefined;
  const offsetMs = zoneOffset(zone, nowMs);
  if (offsetMs === undefined) return undefined;
  const midnight = Math.floor((nowMs + offsetMs) / DAY_MS) * DAY_MS;
  const atMs = midnight + hour * 3_600_000 + minute * 60_000 - offsetMs;
  return atMs > nowMs ? atMs : atMs + DAY_MS;
}

function unitOf(unit: string): string {
  const word = unit.toLowerCase();
  if (word === 'ms' || word.startsWith('milli')) return 'ms';
  return word[0] ?? 's';
}

/** The difference that turns a moment into the clock time of the zone. */
function zoneOffset(zone: string | undefined, nowMs: number): number | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-GB', {
      ...(zone === undefined ? {} : { timeZone: zone.trim() }),
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    const part = Object.fromEntries(format.formatToParts(nowMs).map(({ type, value }) => [type, Number(value)]));
    const local = Date.UTC(part.year ?? 0, (part.month ?? 1) - 1, part.day, part.hour, part.minute, part.second);
    return local - Math.floor(nowMs / SECOND_MS) * SECOND_MS;
  } catch {
    return undefined; // Intl knows no such zone
  }
}
