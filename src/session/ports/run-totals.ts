/** Counts the calls of the run while it records them, for `run.finished`. */
import type { RunTotals } from '../../../journal/run-event.js';
import { countCall, endedCall, flawOf, isEndOfCall, noCalls } from '../../../replay/fold/call-counts.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { Follower } from './recorder.js';

export interface TotalsCounter {
  readonly follow: Follower;
  totals(): RunTotals;
}

export function createTotalsCounter(): TotalsCounter {
  const counts = noCalls();
  let withoutResult = 0;
  return {
    follow(event) {
      if (!isEndOfCall(event)) return;
      countCall(counts, endedCall(event));
      if (event.type === 'call.completed' && flawOf(event) !== undefined) withoutResult += 1;
    },
    totals: () =>
      withoutUndefined<RunTotals>({
        // The totals on disk count a call whose body ran as executed, even if its result is not one.
        executed: counts.executed + withoutResult,
        reused: counts.reused,
        failed: counts.failed - withoutResult,
        withoutResult,
        costUsd: counts.costUsd ?? undefined,
      }),
  };
}
