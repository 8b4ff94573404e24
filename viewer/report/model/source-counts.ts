/** Counts the calls of each line of a source, and of each phase of a workflow script. */
import { addUsd } from '../../../journal/facts/add-usd.js';
import type { Model } from './page-model.js';
import { isFailing } from './tracks.js';

export interface CallCounts {
  executed: number;
  /** Executed by a worker for the run. */
  atWorkers: number;
  reused: number;
  /** Ended without a result. */
  failed: number;
  unfinished: number;
  ms: number;
  costUsd: number | null;
}

/** By line, from 1 on; lines without a call have no entry. */
export function countsByLine(model: Model, source: number): ReadonlyMap<number, CallCounts> {
  return countsBy(model, (span) => {
    const place = model.data.places[model.report.spans.site[span] ?? -1];
    return place?.[0] === source ? place[1] : undefined;
  });
}

/** In the order in which the phases began. */
export function countsByPhase(model: Model): readonly (CallCounts & { readonly name: string })[] {
  const { groups, spans } = model.report;
  const counts = countsBy(model, (span) => groups[spans.group[span] ?? -1]);
  return [...counts].map(([name, each]) => ({ name, ...each }));
}

/** Calls without a key are left out. */
function countsBy<K>(model: Model, keyOf: (span: number) => K | undefined): ReadonlyMap<K, CallCounts> {
  const { spans } = model.report;
  const counts = new Map<K, CallCounts>();
  for (const span of model.calls) {
    const key = keyOf(span);
    if (key === undefined) continue;
    let each = counts.get(key);
    if (each === undefined)
      counts.set(key, (each = { executed: 0, atWorkers: 0, reused: 0, failed: 0, unfinished: 0, ms: 0, costUsd: null }));
    const state = model.stateOf(span);
    if (state === 'reused') each.reused += 1;
    else if (state === 'at-worker') each.atWorkers += 1;
    else if (state === 'unfinished') each.unfinished += 1;
    else if (isFailing(state)) each.failed += 1;
    else each.executed += 1;
    // A reused result took no time of its own, and one at a worker waited for it too.
    if (state !== 'reused' && state !== 'at-worker') each.ms += model.durationOf(span);
    const costUsd = spans.costUsd[span] ?? null;
    if (costUsd !== null) each.costUsd = addUsd(each.costUsd ?? 0, costUsd);
  }
  return counts;
}
