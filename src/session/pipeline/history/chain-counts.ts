/**
 * Counts the calls of the runs that count as one. What an earlier run left failed is not counted where another one resumed it, because that
 * one executes it again, unless it went on behind the stage of the call; a run that a `loop_restart` edge followed has ended, and counts
 * with all it came to.
 */
import { unpricedInFlight, usualModel, type CallLedger } from '../../../../replay/fold/calls/call-ledger.js';
import type { EndCounts, RecordedCounts } from '../../../../replay/fold/recorded-counts.js';

export function countsIn(ledger: CallLedger, isRunning: boolean): EndCounts {
  const { callsMs: _, failedByClass: __, ...counts } = ledger.total;
  const unpriced = counts.unpriced + (isRunning ? 0 : unpricedInFlight(ledger));
  return { ...counts, unpriced, model: usualModel(ledger), unresolvedBefore: ledger.unresolvedBefore };
}

/** Adds the next run; `isResumed`: it resumes the one before it. The model is that of the run with the most attempts. */
export function addRun(before: RecordedCounts | undefined, { unresolvedBefore, ...next }: EndCounts, isResumed: boolean): RecordedCounts {
  if (before === undefined) return next;
  const left = isResumed ? unresolvedBefore : 0;
  const sum = (name: Exclude<keyof RecordedCounts, 'model' | Nullable>): number => before[name] + next[name];
  const known = (name: Nullable): number | null =>
    before[name] === null && next[name] === null ? null : (before[name] ?? 0) + (next[name] ?? 0);
  const failed = (name: 'failed' | 'accepted' | 'notExecuted' | 'unresolved' | 'denied'): number => (isResumed ? next[name] : sum(name));
  return {
    executed: sum('executed'),
    reused: sum('reused'),
    failed: failed('failed') + left,
    accepted: failed('accepted'),
    denied: failed('denied'),
    notExecuted: failed('notExecuted'),
    unresolved: failed('unresolved') + left,
    attempts: sum('attempts'),
    retries: sum('retries'),
    inputTokens: known('inputTokens'),
    outputTokens: known('outputTokens'),
    costUsd: known('costUsd'),
    unpriced: sum('unpriced'),
    savedUsd: known('savedUsd'),
    model: (next.attempts > before.attempts ? next : before).model ?? next.model ?? before.model,
  };
}

type Nullable = 'inputTokens' | 'outputTokens' | 'costUsd' | 'savedUsd';
