/** Reads for the estimate of a plan what calls had cost before the last run, and what was ahead in the loops of that run. */
import type { JournalStore, RunFile } from '../../../../journal/store.js';
import { foldRun } from '../../../../replay/fold/fold-run.js';
import { resultCosts } from '../../../../replay/fold/result-costs.js';
import { postMortem } from '../../../../replay/reports/postmortem/postmortem.js';
import { aheadInLoops } from '../../../../replay/reports/postmortem/resume-estimate.js';
import type { CostsByFunction, Estimate } from '../../../../replay/resume/estimate.js';

/** Runs before the last one are not read beyond this size for what calls had cost, nor the last one for what was ahead in it. */
const EARLIER_BYTES_MAX = 64 * 1024 * 1024;

export const isCompleted = ({ finished }: RunFile): boolean => finished?.status === 'completed';

/** Counts the runs that say which calls are predicted: the last one, and those before it back to one that completed. */
export const comparedRuns = (runs: readonly RunFile[]): number => runs.length - Math.max(0, runs.findLastIndex(isCompleted));

/** A run that did not reach its end had calls ahead, which a plan by its calls alone would leave out. */
export async function aheadIn(store: JournalStore, last: RunFile | undefined): Promise<ReadonlyMap<string, number>> {
  if (last === undefined || isCompleted(last) || last.bytes > EARLIER_BYTES_MAX) return new Map();
  return aheadInLoops(await foldRun(store, last.ref, postMortem));
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
