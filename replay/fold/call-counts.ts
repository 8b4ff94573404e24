/**
 * Counts the calls of a run: the one place that decides what every report, list, page and export calls executed, reused and failed.
 *
 * A call is one use of an `llm` function: one execution of its body, or one reuse of a recorded result. A retry is a call of its own (it
 * has a key of its own), and so is a call inside another call. A call that has ended is exactly one of these:
 *
 * - executed: its body gave a result, also one that may not be reused (recording was off, a secret without a key)
 * - reused: a recorded result was taken instead
 * - failed: its body threw, a guard denied it (`denied`, also where its own `denied` branch gave a value), or the command that is its body
 *   ended with an error status
 *
 * A call that has not ended is in flight, and counts as none of them. Tokens and costs are the sum of what calls reported; null where
 * none did, because unknown is not free.
 */
import type { EventOf, JournalEvent, Usage } from '../../journal/event.js';
import type { RunTotals } from '../../journal/run-event.js';

export type EndOfCall = EventOf<'call.completed' | 'call.failed' | 'call.reused'>;

export type CallOutcome = 'executed' | 'reused' | 'failed' | 'denied';

export interface EndedCall {
  readonly outcome: CallOutcome;
  readonly durationMs?: number | undefined;
  readonly usage?: Usage | undefined;
  /** The message of its failure, or the reason for which its result may not be reused. */
  readonly message?: string | undefined;
  /** The code of the error of a failed call; undefined where the journal does not have one. */
  readonly errorCode?: string | undefined;
}

export interface CallCounts {
  executed: number;
  reused: number;
  failed: number;
  /** Milliseconds in calls; those that ran side by side are added up. */
  callsMs: number;
  inputTokens: number | null;
  outputTokens: number | null;
  /** US dollars. */
  costUsd: number | null;
}

export function noCalls(): CallCounts {
  return { executed: 0, reused: 0, failed: 0, callsMs: 0, inputTokens: null, outputTokens: null, costUsd: null };
}

export function isEndOfCall(event: JournalEvent): event is EndOfCall {
  return event.type === 'call.completed' || event.type === 'call.reused' || event.type === 'call.failed';
}

/** Returns the outcome of a call from the event that ended it. */
export function endedCall(event: EndOfCall): EndedCall {
  switch (event.type) {
    case 'call.reused':
      return { outcome: 'reused' };
    case 'call.failed': {
      const denied = event.denied === true;
      return {
        outcome: denied ? 'denied' : 'failed',
        durationMs: event.elapsedMs,
        message: event.message,
        errorCode: event.code ?? (denied ? 'DENIED' : undefined),
      };
    }
    case 'call.completed': {
      const flaw = flawOf(event);
      return {
        outcome: flaw === undefined ? 'executed' : flaw === 'denied' ? 'denied' : 'failed',
        durationMs: event.elapsedMs,
        usage: event.usage,
        message: event.unusable,
        errorCode: flaw === undefined ? undefined : flaw === 'denied' ? 'DENIED' : 'COMMAND_FAILED',
      };
    }
  }
}

export function countCall(counts: CallCounts, { outcome, durationMs = 0, usage = {} }: EndedCall): void {
  counts[outcome === 'denied' ? 'failed' : outcome] += 1;
  counts.callsMs += durationMs;
  counts.inputTokens = sumOf(counts.inputTokens, usage.inputTokens);
  counts.outputTokens = sumOf(counts.outputTokens, usage.outputTokens);
  counts.costUsd = sumOf(counts.costUsd, usage.costUsd);
}

/** Adds the counts of another part of the same whole. */
export function addCounts(counts: CallCounts, more: CallCounts): void {
  counts.executed += more.executed;
  counts.reused += more.reused;
  counts.failed += more.failed;
  counts.callsMs += more.callsMs;
  counts.inputTokens = sumOf(counts.inputTokens, more.inputTokens);
  counts.outputTokens = sumOf(counts.outputTokens, more.outputTokens);
  counts.costUsd = sumOf(counts.costUsd, more.costUsd);
}

// Journals of before have these in the text alone.
const FAILED_COMMAND = /^its command ended with status \d+$/;
const OWN_DENIED_BRANCH = 'the value of its own denied branch';

/** Returns the reason for which a call with a value counts as failed; undefined for a call that executed. */
export function flawOf({ exitCode, denied, unusable }: EventOf<'call.completed'>): 'command' | 'denied' | undefined {
  if (denied === true || unusable === OWN_DENIED_BRANCH) return 'denied';
  return exitCode !== undefined || (unusable !== undefined && FAILED_COMMAND.test(unusable)) ? 'command' : undefined;
}

/** Reads the counts in a run's last line. Undefined where an older program wrote it: that counted calls without a result as executed. */
export function recordedCounts(totals: RunTotals): Pick<CallCounts, 'executed' | 'reused' | 'failed' | 'costUsd'> | undefined {
  const { executed, reused, failed, withoutResult = 0, costUsd = null } = totals;
  if (totals.withoutResult === undefined && executed > 0) return undefined;
  return { executed: executed - withoutResult, reused, failed: failed + withoutResult, costUsd };
}

function sumOf(sum: number | null, more: number | null | undefined): number | null {
  return more === undefined || more === null ? sum : (sum ?? 0) + more;
}
