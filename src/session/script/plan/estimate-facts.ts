/** Reads for the estimate of a plan what calls had cost before the last run, and what was ahead in that run. */
import type { JournalStore, RunFile } from '../../../../journal/store.js';
import { foldRun } from '../../../../replay/fold/fold-run.js';
import { resultCosts } from '../../../../replay/fold/result-costs.js';
import type { Memo } from '../../../../replay/memo/memo.js';
import { postMortem, type PostMortem } from '../../../../replay/reports/postmortem/postmortem.js';
import { aheadInLoops } from '../../../../replay/reports/postmortem/resume-estimate.js';
import type { CallsAhead, CostsByFunction, Estimate } from '../../../../replay/resume/estimate.js';

/** Runs before the last one are not read beyond this size for what calls had cost, nor any for what was ahead in the last one. */
const EARLIER_BYTES_MAX = 64 * 1024 * 1024;

export const isCompleted = ({ finished }: RunFile): boolean => finished?.status === 'completed';

/** Counts the runs that say which calls are predicted: the last one, and those before it back to one that completed. */
export const comparedRuns = (runs: readonly RunFile[]): number => runs.length - Math.max(0, runs.findLastIndex(isCompleted));

/** A run that did not reach its end had calls ahead, which a plan by its calls alone would leave out. */
export async function aheadIn(store: JournalStore, { runs, memo }: RecordedRuns): Promise<CallsAhead> {
  const last = runs.at(-1);
  if (last === undefined || isCompleted(last) || last.bytes > EARLIER_BYTES_MAX) return { inLoops: new Map() };
  const complete = runs.findLast((file) => isCompleted(file) && file.bytes <= EARLIER_BYTES_MAX);
  return {
    inLoops: aheadInLoops(await foldRun(store, last.ref, postMortem)),
    beforeReset: complete && { run: complete.ref.run, calls: forgottenCalls(await foldRun(store, complete.ref, postMortem), memo) },
  };
}

interface RecordedRuns {
  /** The oldest first. */
  readonly runs: readonly RunFile[];
  readonly memo: Pick<Memo, 'entries'>;
}

/** Counts by function how many more calls a run made than the memo has: it has all of them, but where a reset came after that run. */
function forgottenCalls({ resolved, unresolved }: PostMortem, { entries }: Pick<Memo, 'entries'>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { fn } of [...resolved.values(), ...unresolved.values()]) counts.set(fn, (counts.get(fn) ?? 0) + 1);
  for (const { fn } of entries.values()) counts.set(fn, (counts.get(fn) ?? 0) - 1);
  return new Map([...counts].filter(([, calls]) => calls > 0));
}

/** Plans again with the costs of earlier runs where neither results nor the last run have one: that run may have crashed early. */
export async function withEarlierCosts<P extends { readonly estimate: Estimate | undefined }>(
  store: JournalStore,
  runs: readonly RunFile[],
  plan: (earlierCosts: CostsByFunction) => P,
): Promise<P> {
  const planned = plan(new Map());
  const missing = planned.estimate?.functions.flatMap(({ fn, medianUsd }) => (medianUsd === null ? [fn] : [])) ?? [];
  const earlierCosts = await costsInRuns(store, runs.slice(0, -1), missing);
  return earlierCosts.size === 0 ? planned : plan(earlierCosts);
}

/** Reads what results of these functions had cost in the latest of the runs in which one has a known cost. `runs`: the oldest first. */
export async function costsInRuns(store: JournalStore, runs: readonly RunFile[], functions: Iterable<string>): Promise<CostsByFunction> {
  const missing = new Set(functions);
  const known = new Map<string, readonly number[]>();
  let bytesLeft = EARLIER_BYTES_MAX;
  for (const { ref, bytes } of runs.toReversed()) {
    bytesLeft -= bytes;
    if (missing.size === 0 || bytesLeft < 0) break;
    const { usd } = await foldRun(store, ref, resultCosts);
    for (const fn of missing) {
      const costs = usd.get(fn);
      if (costs && missing.delete(fn)) known.set(fn, costs);
    }
  }
  return known;
}
