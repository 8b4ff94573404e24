/** What going on with a run would take: asked again, not come to, time and cost by what the run itself measured. */
import { causeChain } from './open-steps.js';
import type { PostMortem, Rate, Unanswered } from './postmortem.js';

export interface ResumeEstimate {
  /** Questions with an answer that can be served. */
  readonly served: number;
  /** Questions that were asked and have none. */
  readonly again: readonly { readonly fn: string; readonly preview: string | undefined; readonly why: Unanswered }[];
  /** Questions that the run had not come to, as far as its loops and an earlier complete run tell. */
  readonly notBegun: number;
  /** Time in calls, those side by side added up; by the mean of the function in this run. */
  readonly elapsedMs: number | undefined;
  readonly costUsd: number | undefined;
}

/** What going on would come to. `usualCalls`: how many calls a complete run of the script made. */
export function estimateResume(state: PostMortem, usualCalls: number | undefined): ResumeEstimate {
  const ahead = new Map<string, number>();
  const add = (fn: string, calls: number): void => void ahead.set(fn, (ahead.get(fn) ?? 0) + calls);
  const again = [...state.unanswered.values()];
  for (const { fn } of again) add(fn, 1);
  let inLoops = 0;
  const loops = new Set([...state.steps.values(), ...causeChain(state)].map(({ loop }) => loop).filter((loop) => loop !== undefined));
  for (const { total, begun, calls } of loops) {
    if (begun === 0) continue;
    for (const [fn, count] of calls) {
      const expected = Math.max(0, total - begun) * (count / begun);
      inLoops += expected;
      add(fn, expected);
    }
  }
  const seen = state.answered.size + again.length;
  const notBegun = Math.round(Math.max(inLoops, (usualCalls ?? 0) - seen));
  const beyond = Math.max(0, notBegun - inLoops);
  const price = priced(state, ahead, beyond);
  return { served: state.answered.size, again, notBegun, ...price };
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
