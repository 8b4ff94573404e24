/** Estimates the calls, the time and the cost of the next run, if it makes the same calls as the last one. */
import type { CallKey } from '../../journal/ids.js';
import { concurrencyOf, wallTime, type CallConcurrency } from '../fold/call-concurrency.js';
import type { LatestRun } from './latest-run.js';

export interface Estimate {
  readonly calls: number;
  /** Wall time at the concurrency of the last run: a call takes what it took before, else the mean of its function. */
  readonly durationMs: number;
  /** The same, with calls that run side by side added up. */
  readonly callsMs: number;
  /** Undefined where no recorded call of the same functions reported its cost. */
  readonly costUsd?: number;
}

export interface CallNow {
  readonly fn: string;
  /** True also for a call that is not predicted. */
  readonly isReused: boolean;
  readonly elapsedMs: number | undefined;
  /** Time at which the recorded result was made, milliseconds since 1970; not finite where the journal does not have it. */
  readonly endedMs: number | undefined;
}

export function estimateOf(
  { calls: last, costs, concurrency }: LatestRun,
  now: ReadonlyMap<CallKey, CallNow>,
  predicted: ReadonlySet<CallKey>,
): Estimate {
  const means = meanTimes(now);
  let [calls, callsMs, longestMs, costUsd, costKnown] = [0, 0, 0, 0, false];
  for (const key of new Set([...last.keys(), ...predicted])) {
    const known = now.get(key);
    const fn = known?.fn ?? last.get(key)?.fn;
    if (fn === undefined || known?.isReused === true) continue;
    calls++;
    const callMs = known?.elapsedMs ?? means.get(fn) ?? 0;
    callsMs += callMs;
    longestMs = Math.max(longestMs, callMs);
    const cost = costs.get(fn);
    if (cost === undefined) continue;
    costKnown = true;
    costUsd += cost.usd / cost.calls;
  }
  return {
    calls,
    durationMs: wallTime(callsMs, longestMs, concurrencyOf(concurrency.busyMs > 0 ? concurrency : concurrencyOfResults(now.values()))),
    callsMs: Math.round(callsMs),
    ...(costKnown && { costUsd }),
  };
}

/** Measures the concurrency of the calls whose results are recorded, for a last run that executed nothing. */
function concurrencyOfResults(now: Iterable<CallNow>): Pick<CallConcurrency, 'callsMs' | 'busyMs'> {
  let [callsMs, busyMs, untilMs] = [0, 0, Number.NEGATIVE_INFINITY];
  const times = [...now]
    .filter(({ endedMs }) => Number.isFinite(endedMs))
    .map(({ endedMs = 0, elapsedMs = 0 }) => ({ startedMs: endedMs - elapsedMs, endedMs }));
  for (const { startedMs, endedMs } of times.sort((left, right) => left.startedMs - right.startedMs)) {
    callsMs += endedMs - startedMs;
    busyMs += Math.max(0, endedMs - Math.max(startedMs, untilMs));
    untilMs = Math.max(untilMs, endedMs);
  }
  return { callsMs, busyMs };
}

function meanTimes(now: ReadonlyMap<CallKey, CallNow>): ReadonlyMap<string, number> {
  const times = new Map<string, { ms: number; calls: number }>();
  for (const { fn, elapsedMs } of now.values()) {
    if (elapsedMs === undefined) continue;
    const { ms, calls } = times.get(fn) ?? { ms: 0, calls: 0 };
    times.set(fn, { ms: ms + elapsedMs, calls: calls + 1 });
  }
  return new Map([...times].map(([fn, { ms, calls }]) => [fn, ms / calls]));
}
