/** Reads the counts of calls in the last line of a run. */
import type { RunTotals } from '../../journal/facts/run-event.js';
import type { CallFigures } from './calls/call-counts.js';
import type { UnresolvedCalls } from './reported-status.js';

/** The counts that the last line of a run has. */
export type RecordedCounts = CallFigures & { readonly model: string | null };

/** With the unresolved calls that the runs before it in its chain have left. */
export type EndCounts = RecordedCounts & UnresolvedCalls;

/** Reads the counts in a run's last line. Undefined where an older program wrote it, which counted otherwise, and calls were executed. */
export function recordedCounts(totals: RunTotals): EndCounts | undefined {
  const { executed, reused, failed, withoutResult = 0 } = totals;
  if (totals.attempts === undefined && executed + failed > 0) return undefined;
  // It counted failed attempts of stages as failed calls.
  if (totals.nodes !== undefined && totals.stageRetries === undefined && failed > 0) return undefined;
  const {
    accepted = 0,
    denied = 0,
    notExecuted = 0,
    unresolved = 0,
    unresolvedBefore = 0,
    attempts = 0,
    retries = 0,
    unpriced = 0,
  } = totals;
  const { inputTokens = null, outputTokens = null, costUsd = null, savedUsd = null, model = null } = totals;
  const counts = { executed: executed - withoutResult, reused, failed: failed + withoutResult, accepted, denied, notExecuted, unresolved };
  return { ...counts, unresolvedBefore, attempts, retries, inputTokens, outputTokens, costUsd, unpriced, savedUsd, model };
}
