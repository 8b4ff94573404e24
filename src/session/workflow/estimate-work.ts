/** Estimates what the next run of a workflow script or program executes, takes and costs, if it makes the calls of the last one. */
import { sumUsd } from '../../../journal/facts/add-usd.js';
import type { CallKey } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { isSimulated, type Memo, type MemoEntry } from '../../../replay/memo/memo.js';
import { savedBy } from '../../../replay/memo/stored-result.js';
import { estimateOf, type CallNow, type Estimate, type ExpectedCall } from '../../../replay/resume/estimate.js';
import { latestRun } from '../../../replay/resume/latest-run.js';
import { predictCalls } from '../../../replay/resume/predict-calls.js';
import { loadInnerResults } from '../../../replay/workflows/inner-results.js';
import { AGENT_FUNCTION } from '../../../replay/workflows/resolve-workflow-target.js';
import { aheadIn, withEarlierCosts } from '../script/plan/estimate-facts.js';

interface RecordedCalls {
  readonly store: JournalStore;
  /** The oldest first. */
  readonly runs: readonly RunFile[];
  /** One's own, then those of the fork sources. */
  readonly memos: readonly [Memo, ...Memo[]];
  /** Says it of a call that no agent makes. */
  readonly isReused: (key: CallKey) => boolean;
  /** Says whether the result of a call waits for guards, and no target takes it away. */
  readonly isUnjudged: (key: CallKey) => boolean;
  /** The run would simulate its agents: simulated results tell what theirs cost. */
  readonly isTrial: boolean;
  /** Other backends or models answer agents: what agents had cost tells nothing. */
  readonly isAnsweredOtherwise: boolean;
}

export interface EstimatedWork {
  /** Undefined without a recorded run. */
  readonly estimate: Estimate | undefined;
  /** The calls that the estimate expects, in their order. */
  readonly executes: readonly ExpectedCall[];
  /** US dollars that the results had cost that are reused; null where none of them is known. */
  readonly savedUsd: number | null;
}

export async function estimateWork({
  store,
  runs,
  memos,
  isReused,
  isUnjudged,
  isTrial,
  isAnsweredOtherwise,
}: RecordedCalls): Promise<EstimatedWork> {
  const last = runs.at(-1);
  const [own, ...sources] = memos;
  const entries = new Map<CallKey, MemoEntry>();
  for (const [key, entry] of memos.flatMap((memo) => [...memo.entries])) {
    if (entries.get(key)?.result === undefined) entries.set(key, entry);
  }
  // Calls of the function of an agent are made anew with the agent, unless that was cut short. workflows-js.md 7, INNER-1
  const cutShort = new Set([...(await loadInnerResults(store, runs)).values()].map(({ key }) => key));
  const isInAgent = (key: CallKey, seen = new Set<CallKey>()): boolean =>
    !seen.has(key) &&
    memos.some(({ within }) =>
      [...(within.get(key) ?? [])].some((around) => entries.get(around)?.fn === AGENT_FUNCTION || isInAgent(around, seen.add(key))),
    );
  const isKept = (key: CallKey): boolean => (isInAgent(key) ? cutShort.has(key) : isReused(key));
  const predicted = predictCalls(own, sources, isKept, isUnjudged);

  const now = new Map<CallKey, CallNow>();
  let savedUsd: number | null = null;
  for (const [key, entry] of entries) {
    const { fn, result } = entry;
    const tells = isTrial || !memos.some((memo) => isSimulated(memo, entry));
    const { elapsedMs, endedMs = Number.NaN, costUsd } = (tells ? result : undefined) ?? {};
    const isSaved = predicted.has(key) && isKept(key);
    now.set(key, {
      fn,
      isReused: !predicted.has(key) || isSaved,
      hasResult: result !== undefined,
      isUnjudged: isUnjudged(key),
      elapsedMs,
      endedMs,
      costUsd: isAnsweredOtherwise && fn === AGENT_FUNCTION ? undefined : costUsd,
    });
    if (isSaved && result) savedUsd = sumUsd(savedUsd, savedBy(result));
  }
  if (last === undefined) return { estimate: undefined, executes: [], savedUsd };
  const latest = await foldRun(store, last.ref, latestRun);
  if (isAnsweredOtherwise) latest.costs.usd.delete(AGENT_FUNCTION);
  const facts = { latest, now, predicted, ahead: await aheadIn(store, { runs, memo: own }) };
  const estimated = await withEarlierCosts(store, runs, (earlierCosts) =>
    estimateOf({ ...facts, earlierCosts: new Map([...earlierCosts].filter(([fn]) => !isAnsweredOtherwise || fn !== AGENT_FUNCTION)) }),
  );
  return { ...estimated, savedUsd };
}
