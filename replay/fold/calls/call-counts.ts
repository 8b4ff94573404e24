/** The counts of calls that reports, lists, pages and exports give, of a run or of a part of it. `call-ledger.ts` decides what counts. */
import { sumUsd } from '../../../journal/facts/add-usd.js';
import type { EndedCall } from './ended-call.js';
import type { CallCause } from './failure-class.js';

export interface CallCounts {
  executed: number;
  reused: number;
  /** Accepted ones included. */
  failed: number;
  accepted: number;
  denied: number;
  notExecuted: number;
  /** Failed and not accepted, or not executed. */
  unresolved: number;
  /** Executions of bodies, failed ones and those in flight included. */
  attempts: number;
  /** Attempts beyond the first of their call. */
  retries: number;
  /** Milliseconds in calls; those that ran side by side are added up. */
  callsMs: number;
  inputTokens: number | null;
  outputTokens: number | null;
  /** US dollars. */
  costUsd: number | null;
  /** Attempts without a known cost. */
  unpriced: number;
  /** The cost of the calls whose results were reused, when they were executed. */
  savedUsd: number | null;
  /** Failed calls by the class of their last attempt. */
  readonly failedByClass: { [cause in CallCause]?: number };
}

/** The counts that every report gives. */
export type CallFigures = Readonly<Omit<CallCounts, 'callsMs' | 'failedByClass'>>;

export function noCalls(): CallCounts {
  return {
    executed: 0,
    reused: 0,
    failed: 0,
    accepted: 0,
    denied: 0,
    notExecuted: 0,
    unresolved: 0,
    attempts: 0,
    retries: 0,
    callsMs: 0,
    inputTokens: null,
    outputTokens: null,
    costUsd: null,
    unpriced: 0,
    savedUsd: null,
    failedByClass: {},
  };
}

/** Adds the counts of another part of the same whole. */
export function addCounts(counts: CallCounts, more: CallCounts): void {
  for (const name of NUMBERS) counts[name] += more[name];
  for (const name of TOKENS) counts[name] = sumOf(counts[name], more[name]);
  for (const name of AMOUNTS) counts[name] = sumUsd(counts[name], more[name]);
  for (const [cause, count] of Object.entries(more.failedByClass)) addTo(counts.failedByClass, cause as CallCause, count);
}

const NUMBERS = [
  'executed',
  'reused',
  'failed',
  'accepted',
  'denied',
  'notExecuted',
  'unresolved',
  'attempts',
  'retries',
  'callsMs',
  'unpriced',
] as const;
const TOKENS = ['inputTokens', 'outputTokens'] as const;
const AMOUNTS = ['costUsd', 'savedUsd'] as const;

/** Counts by number, as `countEnd` does: a `for` over a list costs several times that, and these are walked twice for each call. */
export function countAttempt(groups: readonly CallCounts[], isRetry: boolean, by: 1 | -1): void {
  for (let i = 0; i < groups.length; i++) {
    const counts = groups[i] as CallCounts;
    counts.attempts += by;
    if (isRetry) counts.retries += by;
  }
}

export function countEnd(groups: readonly CallCounts[], { outcome, isAccepted, cause = 'crash' }: EndedCall, by: 1 | -1): void {
  for (let i = 0; i < groups.length; i++) {
    const counts = groups[i] as CallCounts;
    counts[outcome === 'not-executed' ? 'notExecuted' : outcome] += by;
    if (isAccepted) counts.accepted += by;
    if (outcome === 'failed') addTo(counts.failedByClass, cause, by);
    counts.unresolved = counts.failed - counts.accepted + counts.notExecuted;
  }
}

/** Takes back the time and the cost of an attempt that counts elsewhere. To be called when all attempts of the counts have ended. */
export function takeCostBack(groups: readonly CallCounts[], { usage, durationMs = 0 }: EndedCall, isUnpriced: boolean): void {
  for (const counts of groups) {
    counts.callsMs -= durationMs;
    if (isUnpriced) counts.unpriced -= 1;
    // A sum of nothing is unknown, and not 0; of costs it may also be what was free.
    for (const name of TOKENS) counts[name] = sumOf(counts[name], -(usage?.[name] ?? 0)) || null;
    const isKnown = counts.attempts > counts.unpriced;
    if (usage?.costUsd !== undefined) counts.costUsd = sumUsd(counts.costUsd, -usage.costUsd) || (isKnown ? 0 : null);
  }
}

export function addTo(counts: CallCounts['failedByClass'], cause: CallCause, by: number): void {
  const sum = (counts[cause] ?? 0) + by;
  if (sum === 0) delete counts[cause];
  else counts[cause] = sum;
}

export function sumOf(sum: number | null, more: number | null | undefined): number | null {
  return more === undefined || more === null ? sum : (sum ?? 0) + more;
}
