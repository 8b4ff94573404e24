/** Reads the durations of flags. */
import { MlldError } from '../../src/errors.js';

const UNITS_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** The longest time a timer can wait. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

export type DurationFlag = 'timeout' | 'journal-wait' | 'call-timeout' | 'wait-quota';

/** Reads `30s`, `900ms`, `5m`, `1h`, or a number of milliseconds; a limit of time may not be 0, a wait may. Throws USAGE. */
export function durationMs(text: string, option: DurationFlag): number {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Math.round(Number(number) * (UNITS_MS[unit] ?? Number.NaN));
  const isAllowed = option === 'timeout' || option === 'call-timeout' ? ms > 0 : ms >= 0;
  if (isAllowed && ms <= TIMEOUT_MAX_MS) return ms;
  throw new MlldError('USAGE', `Invalid ${option}: ${text}`, {
    hint: `--${option} 30s, or 900ms, 5m, 1h, or a number of milliseconds`,
  });
}
