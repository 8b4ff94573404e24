/** Counts the calls of each line of a source. */
import type { Model } from './page-model.js';
import { isFailing } from './tracks.js';

export interface LineCounts {
  executed: number;
  reused: number;
  failed: number;
  ms: number;
  costUsd: number | null;
}

/** By line, from 1 on; lines without a call have no entry. */
export function countsByLine(model: Model, source: number): ReadonlyMap<number, LineCounts> {
  const { spans } = model.report;
  const counts = new Map<number, LineCounts>();
  for (const span of model.calls) {
    const place = model.data.places[spans.site[span] ?? -1];
    if (!place || place[0] !== source) continue;
    let line = counts.get(place[1]);
    if (line === undefined) counts.set(place[1], (line = { executed: 0, reused: 0, failed: 0, ms: 0, costUsd: null }));
    const state = model.stateOf(span);
    if (state === 'reused') line.reused += 1;
    else if (isFailing(state)) line.failed += 1;
    else line.executed += 1;
    line.ms += model.durationOf(span);
    const costUsd = spans.costUsd[span] ?? null;
    if (costUsd !== null) line.costUsd = (line.costUsd ?? 0) + costUsd;
  }
  return counts;
}
