/** Measures how long calls took. A reused result took no time of its own, and is left out. */
import type { Model } from './page-model.js';

export interface FunctionTimes {
  readonly count: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly longestMs: number;
}

/** Times by function; a function without a measured call has none. */
export function timesByFunction(model: Model): ReadonlyMap<string, FunctionTimes> {
  const times = new Map<string, number[]>();
  for (const span of measured(model)) {
    const fn = model.fnOf(span);
    const known = times.get(fn);
    if (known) known.push(model.durationOf(span));
    else times.set(fn, [model.durationOf(span)]);
  }
  return new Map(
    [...times].map(([name, each]) => {
      each.sort((left, right) => left - right);
      return [name, { count: each.length, medianMs: percentile(each, 50), p95Ms: percentile(each, 95), longestMs: percentile(each, 100) }];
    }),
  );
}

/** The nearest rank: a value that occurred. `ascending` is not empty. */
export function percentile(ascending: readonly number[], percent: number): number {
  return ascending[Math.max(0, Math.ceil((percent / 100) * ascending.length) - 1)] as number;
}

/** Returns so many calls, the slowest first. */
export function slowestCalls(model: Model, count: number): readonly number[] {
  return [...measured(model)].sort((left, right) => model.durationOf(right) - model.durationOf(left) || left - right).slice(0, count);
}

function measured(model: Model): readonly number[] {
  return model.calls.filter((span) => ['executed', 'failed', 'unfinished'].includes(model.stateOf(span)));
}
