/** Estimates what resuming a run would take now: results to reuse, calls to make, time and cost as measured in that run. */
import { addUsd } from '../../../journal/facts/add-usd.js';
import type { CallKey } from '../../../journal/ids.js';
import { concurrencyOf, startsTime, wallTime } from '../../fold/call-concurrency.js';
import { costsOf, meanUsd, type CostsByFunction } from '../../resume/estimate.js';
import { isInside } from '../../fold/op-path.js';
import { causeChain, countOpenAsPaused } from './in-flight-operations.js';
import { callsAhead, knowsRestOfPaused, type LoopCount } from './loop-counts.js';
import type { ResolvedCall, PostMortem, Rate, Unresolved } from './postmortem.js';

export interface ResumeEstimate {
  /** Calls of the run that have a reusable result now, whichever run recorded it; none inside a reused one, which no resume makes. */
  readonly reused: number;
  /** Results that can be reused now, also those inside reused ones. */
  readonly kept: number;
  /** Calls of the run that have none now; none inside a reused one. */
  readonly unresolved: readonly { readonly fn: string; readonly preview: string | undefined; readonly why: Unresolved }[];
  /** Calls that the run had not made yet, estimated from its loops and a complete run. */
  readonly notStarted: number;
  /** More calls may follow that are in no number, as in a plan: this run did not complete, or what comes behind calls without a result. */
  readonly isPart: boolean;
  /**
   * Wall time at the concurrency of this run, and with the gaps of its lanes: a call takes the mean of its function in this run. Undefined
   * where nothing was measured.
   */
  readonly durationMs: number | undefined;
  /** The same, with calls that run side by side added up. */
  readonly callsMs: number | undefined;
  /** For each call the mean cost of its function's results, recorded ones or else those of this run. Undefined: none is known. */
  readonly costUsd: number | undefined;
  /** Calls, not in the cost, of functions no result of which reported one. */
  readonly unpriced: number;
}

/** Lookups in what is recorded now. */
export interface RecordedNow {
  /** Returns whether a call has a reusable result. `had`: the result that the run itself had. */
  has(key: CallKey, had: ResolvedCall | undefined): boolean;
  /** Returns the calls that guards made to judge the result of a call; undefined where none waits for them. */
  judging(key: CallKey): readonly CallKey[] | undefined;
  /** Calls whose results the resume invalidates: those around calls that failed. calls.md 15.5 */
  readonly invalidates?: ReadonlySet<CallKey>;
  /**
   * Results for calls that this run did not make, of later runs and of the complete one before it that tells how many calls there are: that
   * many fewer are left to make.
   */
  readonly elsewhere: number;
  readonly costs: CostsByFunction;
}

/** `usualCalls`: how many calls a complete run of the workflow made. */
export function estimateResume(
  state: PostMortem,
  usualCalls: number | undefined,
  now: RecordedNow = {
    has: (key) => state.resolved.has(key),
    judging: (key) => (state.unjudged.has(key) ? [] : undefined),
    elsewhere: 0,
    costs: new Map(),
  },
): ResumeEstimate {
  const ahead = new Map<string, number>();
  const add = (fn: string, calls: number): void => void ahead.set(fn, (ahead.get(fn) ?? 0) + calls);
  const isReused = (key: CallKey, had: ResolvedCall | undefined): boolean => now.invalidates?.has(key) !== true && now.has(key, had);
  const judging = (key: CallKey): readonly CallKey[] | undefined => (now.invalidates?.has(key) === true ? undefined : now.judging(key));
  const isMade = madeByResume(state, isReused, judging);
  const left = new Map<CallKey, ResumeEstimate['unresolved'][number]>();
  let [kept, reusable] = [0, 0];
  for (const [key, call] of state.unresolved) {
    const isKept = now.has(key, undefined);
    if (isKept) kept += 1;
    if (!isMade(key)) continue;
    if (isReused(key, undefined)) reusable += 1;
    else left.set(key, judging(key) ? { ...call, why: 'unjudged' } : call);
  }
  for (const [key, had] of state.resolved) {
    const isKept = now.has(key, had);
    if (isKept) kept += 1;
    if (!isMade(key)) continue;
    if (isReused(key, had)) reusable += 1;
    else left.set(key, { fn: had.fn, preview: had.preview, why: 'invalidated' });
  }
  const unresolved = [...left.values()];
  for (const { fn, why } of unresolved) if (why !== 'unjudged') add(fn, 1); // it is paid for
  const inLoopsBy = aheadInLoops(state);
  const inLoops = [...inLoopsBy.values()].reduce((sum, calls) => sum + calls, 0);
  const seen = state.resolved.size + state.unresolved.size;
  // A run that reached its end made all its calls, however many another one had made.
  const isWhole = state.finished?.status === 'completed';
  const missing = isWhole ? 0 : Math.round(Math.max(inLoops, (usualCalls ?? 0) - seen));
  const recorded = Math.min(missing, now.elsewhere);
  // It is unknown which of the calls ahead have these results: they are left out evenly.
  const part = missing === 0 ? 0 : 1 - recorded / missing;
  const inLoopsLeft = inLoops * part;
  for (const [fn, calls] of inLoopsBy) add(fn, calls * part);
  const notStarted = missing - recorded;
  const others = Math.max(0, notStarted - inLoopsLeft);
  const isPart = !isWhole || unresolved.length > 0;
  const cost = priced(state.rates, now.costs, withoutCallers(state, { ahead, others }, left));
  const time = timed(state, { ahead, others });
  return { reused: reusable + recorded, kept: kept + recorded, unresolved, notStarted, isPart, ...time, ...cost };
}

/**
 * Returns whether a resume makes a call that the run made: not one that is inside calls alone whose results it reuses, or has guards judge,
 * but for the calls that these guards make.
 */
function madeByResume(
  { within, resolved }: PostMortem,
  isReused: RecordedNow['has'],
  judging: RecordedNow['judging'],
): (key: CallKey) => boolean {
  const made = new Map<CallKey, boolean>();
  const isMade = (key: CallKey): boolean => {
    const around = within.get(key);
    if (around === undefined) return true;
    const known = made.get(key);
    if (known !== undefined) return known;
    made.set(key, false); // a call that is inside itself is made by none
    const result = [...around].some((outer) => {
      if (isReused(outer, resolved.get(outer)) || !isMade(outer)) return false;
      return judging(outer)?.includes(key) ?? true;
    });
    made.set(key, result);
    return result;
  };
  return isMade;
}

/** Estimates the calls that the unfinished loops of a run had not started, by function: each iteration makes what those before it made. */
export function aheadInLoops(state: PostMortem): ReadonlyMap<string, number> {
  const ahead = new Map<string, number>();
  for (const loop of unfinishedLoops(state)) {
    for (const [fn, calls] of callsAhead(loop)) ahead.set(fn, (ahead.get(fn) ?? 0) + calls);
  }
  return ahead;
}

/**
 * Returns the loops that tell what is still to do. A loop in an iteration that a pause ended is none of them where the loop around it knows
 * what a whole iteration makes, because the rest of that iteration is counted there.
 */
function unfinishedLoops(state: PostMortem): readonly LoopCount[] {
  const stopped = countOpenAsPaused(state);
  const known = [...new Set([...state.steps.values(), ...causeChain(state)])].flatMap(({ op, loop }) =>
    loop ? [{ op, loop: stopped.get(loop) ?? loop }] : [],
  );
  const covering = known.filter(({ loop }) => knowsRestOfPaused(loop));
  return known.filter(({ op }) => !covering.some((around) => op !== around.op && isInside(op, around.op))).map(({ loop }) => loop);
}

/** Counts calls by function; of `others` only the number is known. */
interface CallsAhead {
  readonly ahead: ReadonlyMap<string, number>;
  readonly others: number;
  /** Calls that have no price: that of their function, which only makes calls, is the price of calls that are not counted. */
  readonly callers?: number;
}

/** The cost of a call that does nothing but make calls is theirs: where none of them is known to be made, nobody knows it. */
function withoutCallers(
  { rates, within }: PostMortem,
  { ahead, others }: CallsAhead,
  unresolved: ReadonlyMap<CallKey, { readonly fn: string; readonly why: Unresolved }>,
): CallsAhead {
  const around = new Set([...unresolved.keys()].flatMap((key) => [...(within.get(key) ?? [])]));
  const left = new Map(ahead);
  let callers = 0;
  for (const [key, { fn, why }] of unresolved) {
    if (why === 'unjudged') continue;
    const { onlyCalls = 0, costs = [] } = rates.get(fn) ?? {};
    if (onlyCalls === 0 || costs.some((usd) => usd > 0)) continue;
    if (!around.has(key)) callers += 1;
    left.set(fn, (left.get(fn) ?? 0) - 1);
  }
  return { ahead: left, others, callers };
}

function timed({ rates, concurrency }: PostMortem, { ahead, others }: CallsAhead): Pick<ResumeEstimate, 'durationMs' | 'callsMs'> {
  const all = { calls: 0, durationMs: 0 };
  for (const rate of rates.values()) {
    all.calls += rate.calls;
    all.durationMs += rate.durationMs;
  }
  if (all.calls === 0) return { durationMs: undefined, callsMs: undefined };
  const meanMs = all.durationMs / all.calls;
  let callsMs = others * meanMs;
  let longestMs = Math.min(callsMs, meanMs);
  for (const [fn, calls] of ahead) {
    const own = rates.get(fn);
    const ownMs = own !== undefined && own.calls > 0 ? own.durationMs / own.calls : meanMs;
    callsMs += calls * ownMs;
    longestMs = Math.max(longestMs, Math.min(calls, 1) * ownMs);
  }
  const wallMs = wallTime(callsMs, longestMs, concurrencyOf(concurrency));
  return { durationMs: Math.max(wallMs, startsTime(concurrency, ahead)), callsMs: Math.round(callsMs) };
}

/** The price of a function is never that of others. Only calls of which no function is known take the mean of this run. */
function priced(
  rates: ReadonlyMap<string, Rate>,
  recorded: CostsByFunction,
  { ahead, others, callers = 0 }: CallsAhead,
): Pick<ResumeEstimate, 'costUsd' | 'unpriced'> {
  const here = new Map([...rates].map(([fn, { costs }]) => [fn, costs] as const));
  const all = [...here.values()].flat();
  let costUsd = 0;
  let [known, unpriced] = [0, callers];
  const add = (calls: number, usd: number | null): void => {
    if (usd === null) unpriced += calls;
    else {
      known += calls;
      costUsd = addUsd(costUsd, calls * usd);
    }
  };
  add(others, meanUsd(all));
  for (const [fn, calls] of ahead) add(calls, meanUsd(costsOf(fn, [recorded, here])));
  if (known === 0 && all.length === 0) return { costUsd: undefined, unpriced: 0 };
  return { costUsd: known === 0 && unpriced > 0 ? undefined : costUsd, unpriced: Math.round(unpriced) };
}
