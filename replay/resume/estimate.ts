/** Estimates the calls, the time and the cost of the next run, if it makes the same calls as the last one. */
import { addUsd } from '../../journal/facts/add-usd.js';
import type { CallKey, RunId } from '../../journal/ids.js';
import { concurrencyOf, startsTime, wallTime, type CallConcurrency } from '../fold/call-concurrency.js';
import { quantile, sorted } from '../fold/quantile.js';
import { endedCalls } from './calls-behind.js';
import { isSimulated, type Memo, type MemoEntry } from '../memo/memo.js';
import type { LatestRun } from './latest-run.js';
import { notPredicted, predictedBefore } from './not-executed.js';

export interface Estimate {
  readonly calls: number;
  /** Calls among them that the last run had not started, as far as its unfinished loops or an earlier complete run tell. */
  readonly notStarted: number;
  /** That complete run, where it tells of more of them than the loops do. */
  readonly notStartedAsIn: RunId | null;
  /**
   * Calls may follow that are not counted: the last run did not reach its end, or a call has no result yet, or one is reused that came
   * after a call which is executed now, and not in another iteration of a parallel loop. A journal does not say what a script makes of a
   * new result.
   */
  readonly isPart: boolean;
  /**
   * Wall time at the concurrency of the last run, and with the gaps of its lanes: a call takes what it took before, else the mean of its
   * function. Null: none is known.
   */
  readonly durationMs: number | null;
  /** The same, with calls that run side by side added up. */
  readonly callsMs: number | null;
  /** Calls, not in these times, of functions none of whose results is recorded. */
  readonly untimed: number;
  /**
   * For each call the cost of its own recorded result, else the mean of its function, where that has one: medians leave out the few that
   * cost most. Null where none has.
   */
  readonly costUsd: number | null;
  /** The sum of the 95th percentiles instead. */
  readonly p95Usd: number | null;
  /** Calls of functions none of whose results has a known cost. */
  readonly unpriced: number;
  /** In the order of their first calls. */
  readonly functions: readonly FunctionEstimate[];
}

/** A call that the next run is expected to execute. */
export interface ExpectedCall {
  readonly fn: string;
  /** The cost of its own recorded result, in US dollars. */
  readonly usd?: number;
}

/** The cost of one result, as it was in the journal; null where it is not known. */
export interface FunctionEstimate {
  readonly fn: string;
  readonly calls: number;
  readonly medianUsd: number | null;
  readonly p95Usd: number | null;
  readonly meanUsd: number | null;
  /** The mean number of attempts that a call of it took in the last run; 1 where that executed none. */
  readonly meanAttempts: number;
}

export interface CallNow {
  readonly fn: string;
  /** True also for a call that is not predicted. */
  readonly isReused: boolean;
  readonly hasResult: boolean;
  /** Its result came back, and waits for the guards behind it: it is neither executed nor paid for again. */
  readonly isUnjudged?: boolean;
  readonly elapsedMs: number | undefined;
  /** Time at which the recorded result was made, milliseconds since 1970; not finite where the journal does not have it. */
  readonly endedMs: number | undefined;
  /** The cost of the recorded result. */
  readonly costUsd: number | undefined;
}

/** Known costs of results, by function. */
export type CostsByFunction = ReadonlyMap<string, readonly number[]>;

/** Results whose costs are looked at, the latest ones: prices change with models. */
const COSTS_MAX = 100;

interface EstimateFacts {
  readonly latest: LatestRun;
  readonly now: ReadonlyMap<CallKey, CallNow>;
  readonly predicted: ReadonlySet<CallKey>;
  /** For functions of which neither a result nor the last run has a cost. */
  readonly earlierCosts: CostsByFunction;
  /** An edited function is executed that makes calls: it may make others now. */
  readonly editsCallers?: boolean;
  readonly ahead: CallsAhead;
}

/** Calls that the last run had ahead and that nothing predicts by their keys, by function. */
export interface CallsAhead {
  /** Those of its unfinished loops. */
  readonly inLoops: ReadonlyMap<string, number>;
  /** The number that the last complete run had made and no run since a reset: `--fresh` forgets which calls these were. */
  readonly beforeReset?: { readonly run: RunId; readonly calls: ReadonlyMap<string, number> } | undefined;
}

/**
 * `executes`: the calls, in their order; `notExecuted`: the functions of those that the last run did not execute;
 * `later`: reused results of calls that the last run made when it had the result of a call that is executed now.
 */
export function estimateOf({ latest, now, predicted, earlierCosts, ahead, editsCallers = false }: EstimateFacts): {
  readonly estimate: Estimate;
  readonly executes: readonly ExpectedCall[];
  readonly notExecuted: readonly string[];
  readonly later: ReadonlySet<CallKey>;
} {
  const { calls: last, concurrency } = latest;
  const means = meanTimes(now);
  const executes: ExpectedCall[] = [];
  let [callsMs, longestMs, untimed] = [0, 0, 0];
  let isResultMissing = false;
  const ended = endedCalls(latest.sideBySide);
  const addTime = (callMs: number | undefined): void => {
    if (callMs === undefined) untimed++;
    else {
      callsMs += callMs;
      longestMs = Math.max(longestMs, callMs);
    }
  };
  for (const key of new Set([...last.keys(), ...predicted])) {
    const known = now.get(key);
    const fn = known?.fn ?? last.get(key)?.fn;
    if (fn === undefined || known?.isReused === true) continue;
    for (const { op, seq } of last.get(key)?.ends ?? []) ended.add(op, seq);
    isResultMissing ||= known?.hasResult !== true;
    if (known?.isUnjudged) continue;
    executes.push({ fn, ...(known?.costUsd !== undefined && { usd: known.costUsd }) });
    addTime(known?.elapsedMs ?? means.get(fn));
  }
  const isBehind = (key: CallKey): boolean => last.get(key)?.starts.some(({ op, seq }) => ended.isBehind(op, seq)) === true;
  const later = new Set([...predicted].filter((key) => now.get(key)?.isReused === true && isBehind(key)));
  const before = predictedBefore(
    predicted,
    (key) => last.has(key),
    (key) => now.get(key)?.fn,
  );
  const notExecuted = notPredicted(latest.notExecuted.values(), before);
  const { inLoops, beforeReset } = ahead;
  const madeThen = (fn: string): number => beforeReset?.calls.get(fn) ?? 0;
  // Those that an earlier run made are predicted by their keys already.
  const leftInLoops = (fn: string): number => Math.max(0, Math.round(inLoops.get(fn) ?? 0) - (before.get(fn) ?? 0));
  const functionsAhead = [...new Set([...inLoops.keys(), ...(beforeReset?.calls.keys() ?? [])])];
  const notStarted = functionsAhead.flatMap((fn) => new Array<string>(Math.max(leftInLoops(fn), madeThen(fn))).fill(fn));
  for (const fn of [...notExecuted, ...notStarted]) addTime(means.get(fn));
  executes.push(...[...notExecuted, ...notStarted].map((fn) => ({ fn })));
  const prices = pricesOf(executes, [costsOfResults(now.values()), latest.costs.usd, earlierCosts]);
  const functions = prices.map((price) => ({ ...price, meanAttempts: meanAttempts(latest, price.fn) }));
  const isUntimed = untimed > 0 && untimed === executes.length;
  const measured = concurrency.busyMs > 0 ? concurrency : concurrencyOfResults(now.values());
  const estimate = {
    calls: executes.length,
    notStarted: notStarted.length,
    notStartedAsIn: functionsAhead.some((fn) => madeThen(fn) > leftInLoops(fn)) ? (beforeReset?.run ?? null) : null,
    isPart: !latest.isCompleted || isResultMissing || editsCallers || later.size + notExecuted.length > 0,
    durationMs: isUntimed
      ? null
      : Math.max(wallTime(callsMs, longestMs, concurrencyOf(measured)), startsTime(concurrency, countsOf(functions))),
    callsMs: isUntimed ? null : Math.round(callsMs),
    untimed,
    costUsd: sumOf(functions, ({ meanUsd }) => meanUsd),
    p95Usd: sumOf(functions, ({ p95Usd }) => p95Usd),
    unpriced: functions.reduce((sum, { calls, medianUsd }) => sum + (medianUsd === null ? calls : 0), 0),
    functions,
  };
  return { estimate, executes, notExecuted, later };
}

/** Takes the costs of a function from the first source that has some, for calls that have none of their own. */
export function pricesOf(
  executes: readonly ExpectedCall[],
  sources: readonly CostsByFunction[],
): readonly Omit<FunctionEstimate, 'meanAttempts'>[] {
  const byFunction = new Map<string, { calls: number; own: number[] }>();
  for (const { fn, usd } of executes) {
    let known = byFunction.get(fn);
    if (known === undefined) byFunction.set(fn, (known = { calls: 0, own: [] }));
    known.calls += 1;
    if (usd !== undefined) known.own.push(usd);
  }
  return [...byFunction].map(([fn, { calls, own }]) => {
    const others = calls - own.length;
    const costs = costsOf(fn, sources);
    const known = others === 0 ? sorted(own) : latestSorted(costs);
    const mean = others === 0 ? 0 : meanUsd(costs);
    const allUsd = mean === null ? null : own.reduce(addUsd, others * mean);
    return {
      fn,
      calls,
      medianUsd: quantile(known, 0.5),
      p95Usd: greatest(quantile(known, 0.95), quantile(sorted(own), 0.95)),
      meanUsd: allUsd === null ? null : allUsd / calls,
    };
  });
}

function greatest(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : Math.max(left, right);
}

/** Returns the costs of a function in the first source that has some. */
export function costsOf(fn: string, sources: readonly CostsByFunction[]): readonly number[] {
  return sources.map((source) => source.get(fn) ?? []).find((costs) => costs.length > 0) ?? [];
}

/** The latest ones count. Null without any. */
export function meanUsd(costs: readonly number[]): number | null {
  const known = costs.slice(-COSTS_MAX);
  return known.length === 0 ? null : known.reduce(addUsd, 0) / known.length;
}

function latestSorted(costs: readonly number[]): readonly number[] {
  return sorted(costs.slice(-COSTS_MAX));
}

function meanAttempts({ costs }: LatestRun, fn: string): number {
  const { attempts = 0, retries = 0 } = costs.ledger.functions.get(fn) ?? {};
  return attempts > retries ? attempts / (attempts - retries) : 1;
}

/** Returns what the recorded results cost that are not simulated, the oldest first. `tells`: whether that of one counts. */
export function costsIn(memos: Iterable<Memo>, tells: (memo: Memo, entry: MemoEntry) => boolean = () => true): CostsByFunction {
  const results: { fn: string; costUsd: number | undefined; endedMs: number | undefined }[] = [];
  for (const memo of memos) {
    for (const entry of memo.entries.values()) {
      const { costUsd, endedMs } = entry.result ?? {};
      if (!isSimulated(memo, entry) && tells(memo, entry)) results.push({ fn: entry.fn, costUsd, endedMs });
    }
  }
  return costsOfResults(results);
}

/** The oldest results first. */
function costsOfResults(
  results: Iterable<{ readonly fn: string; readonly costUsd: number | undefined; readonly endedMs: number | undefined }>,
): CostsByFunction {
  const costs = new Map<string, { readonly usd: number; readonly endedMs: number }[]>();
  for (const { fn, costUsd: usd, endedMs = 0 } of results) {
    if (usd === undefined) continue;
    const known = costs.get(fn);
    if (known) known.push({ usd, endedMs });
    else costs.set(fn, [{ usd, endedMs }]);
  }
  const oldestFirst = (known: readonly { readonly usd: number; readonly endedMs: number }[]): readonly number[] =>
    known.toSorted((one, other) => one.endedMs - other.endedMs).map(({ usd }) => usd);
  return new Map([...costs].map(([fn, known]) => [fn, oldestFirst(known)]));
}

function countsOf(functions: readonly FunctionEstimate[]): ReadonlyMap<string, number> {
  return new Map(functions.map(({ fn, calls }) => [fn, calls]));
}

function sumOf(functions: readonly FunctionEstimate[], usdOf: (estimate: FunctionEstimate) => number | null): number | null {
  let sum: number | null = null;
  for (const each of functions) {
    const usd = usdOf(each);
    if (usd !== null) sum = addUsd(sum ?? 0, usd * each.calls);
  }
  return sum;
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
