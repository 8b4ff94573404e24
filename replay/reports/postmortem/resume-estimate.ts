/** What resuming a run would take now: results that are there, calls to make, time and cost by what the run itself measured. */
import type { CallKey } from '../../../journal/ids.js';
import { causeChain } from './in-flight-operations.js';
import type { Had, PostMortem, Rate, Unanswered } from './postmortem.js';

export interface ResumeEstimate {
  /** Calls of the run that have a result which can be reused now, whoever recorded it. */
  readonly served: number;
  /** Calls of the run that have none now. */
  readonly again: readonly { readonly fn: string; readonly preview: string | undefined; readonly why: Unanswered }[];
  /** Calls that the run had not made yet, as far as its loops and a complete run tell. */
  readonly notBegun: number;
  /** Time in calls, those side by side added up; by the mean of the function in this run. */
  readonly elapsedMs: number | undefined;
  readonly costUsd: number | undefined;
}

/** What is recorded now. */
export interface RecordedNow {
  /** Whether a call has a result that could be reused. `had`: what the run had of it. */
  has(key: CallKey, had: Had | undefined): boolean;
  /** Results of later runs for calls that this run did not make: that many fewer are left to make. */
  readonly since: number;
}

/** `usualCalls`: how many calls a complete run of the workflow made. */
export function estimateResume(
  state: PostMortem,
  usualCalls: number | undefined,
  now: RecordedNow = { has: (key) => state.answered.has(key), since: 0 },
): ResumeEstimate {
  const ahead = new Map<string, number>();
  const add = (fn: string, calls: number): void => void ahead.set(fn, (ahead.get(fn) ?? 0) + calls);
  const again: { readonly fn: string; readonly preview: string | undefined; readonly why: Unanswered }[] = [];
  for (const [key, call] of state.unanswered) if (!now.has(key, undefined)) again.push(call);
  for (const [key, had] of state.answered) if (!now.has(key, had)) again.push({ fn: had.fn, preview: had.preview, why: 'invalidated' });
  for (const { fn } of again) add(fn, 1);
  let inLoops = 0;
  const inLoopsBy = new Map<string, number>();
  const loops = new Set([...state.steps.values(), ...causeChain(state)].map(({ loop }) => loop).filter((loop) => loop !== undefined));
  for (const { total, begun, calls } of loops) {
    if (begun === 0) continue;
    for (const [fn, count] of calls) {
      const expected = Math.max(0, total - begun) * (count / begun);
      inLoops += expected;
      inLoopsBy.set(fn, (inLoopsBy.get(fn) ?? 0) + expected);
    }
  }
  const seen = state.answered.size + state.unanswered.size;
  const missing = Math.round(Math.max(inLoops, (usualCalls ?? 0) - seen));
  const recorded = Math.min(missing, now.since);
  // Which of the calls ahead were recorded since is unknown: they are left out evenly.
  const part = missing === 0 ? 0 : 1 - recorded / missing;
  const inLoopsLeft = inLoops * part;
  for (const [fn, calls] of inLoopsBy) add(fn, calls * part);
  const notBegun = missing - recorded;
  const price = priced(state, ahead, Math.max(0, notBegun - inLoopsLeft));
  return { served: seen - again.length + recorded, again, notBegun, ...price };
}

/** `ahead` by function; `beyond` are calls of which only the number is known. Undefined where nothing was measured. */
function priced(
  state: PostMortem,
  ahead: ReadonlyMap<string, number>,
  beyond: number,
): { readonly elapsedMs: number | undefined; readonly costUsd: number | undefined } {
  const all: Rate = { calls: 0, elapsedMs: 0, priced: 0, costUsd: 0 };
  for (const rate of state.rates.values()) {
    all.calls += rate.calls;
    all.elapsedMs += rate.elapsedMs;
    all.priced += rate.priced;
    all.costUsd += rate.costUsd;
  }
  if (all.calls === 0) return { elapsedMs: undefined, costUsd: undefined };
  let [elapsedMs, costUsd] = [(beyond * all.elapsedMs) / all.calls, all.priced === 0 ? 0 : (beyond * all.costUsd) / all.priced];
  for (const [fn, calls] of ahead) {
    const own = state.rates.get(fn);
    const rate = own !== undefined && own.calls > 0 ? own : all;
    elapsedMs += (calls * rate.elapsedMs) / rate.calls;
    const price = rate.priced > 0 ? rate : all;
    if (price.priced > 0) costUsd += (calls * price.costUsd) / price.priced;
  }
  return { elapsedMs: Math.round(elapsedMs), costUsd: all.priced === 0 ? undefined : costUsd };
}
