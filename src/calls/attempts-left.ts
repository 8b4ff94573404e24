/** Decides whether a failed attempt is followed by another one, and after which time. calls.md 3, 6.1 and 6.2. */
import type { FailureClass } from './failure.js';
import type { CallOptions, CallSettings, Retries } from './options.js';

/** Attempts in all. A class that is not here has one. */
const ATTEMPTS: { readonly [C in FailureClass]?: number } = { 'rate-limit': 10, overloaded: 10, network: 5, timeout: 2 };
const ATTEMPTS_WITH_SCHEMA = 3;

/** No option changes these: another attempt could not end otherwise. */
const FINAL: ReadonlySet<FailureClass> = new Set<FailureClass>(['quota', 'auth', 'upstream']);

/** Returns the most attempts of a call whose last one failed in this class. */
export function attemptsFor(failureClass: FailureClass, options: CallOptions, settings: CallSettings): number {
  if (FINAL.has(failureClass)) return 1;
  const usual = ATTEMPTS[failureClass] ?? (failureClass === 'bad-reply' && options.schema ? ATTEMPTS_WITH_SCHEMA : 1);
  const further = [settings.forced?.retries, options.retries, settings.retries]
    .map((retries) => retriesFor(failureClass, retries, usual))
    .find((retries) => retries !== undefined);
  return further === undefined ? usual : further + 1;
}

function retriesFor(failureClass: FailureClass, retries: Retries | undefined, usual: number): number | undefined {
  if (typeof retries !== 'number') return retries?.[failureClass];
  return retries === 0 || ATTEMPTS[failureClass] !== undefined ? retries : usual - 1;
}

/** True for a class whose further attempts wait for the lane, and not for a time of their own. calls.md 6.3. */
export function waitsForLane(failureClass: FailureClass): boolean {
  return failureClass === 'rate-limit' || failureClass === 'overloaded';
}

/** Returns the wait before the attempt after number `tried`: full jitter below an exponential bound. `random` is from 0 up to 1. */
export function backoffMs(
  failureClass: FailureClass,
  tried: number,
  { firstMs, maxMs }: CallSettings['backoff'],
  random: () => number,
): number {
  if (failureClass === 'bad-reply') return 0;
  return Math.round(random() * Math.min(maxMs, firstMs * 2 ** (tried - 1)));
}
