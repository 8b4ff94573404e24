/** Renders the last lines of a run with calls: what they came to, and the command that continues. calls.md 14.5. */
import type { RunReport } from '../../src/api/commands/script.js';
import { wordsOfCause } from '../../src/api/commands/words.js';
import { oneLine } from './one-line.js';
import { inVain, priceOf } from './team-calls.js';
import { duration, knownCost, money } from './units.js';

type Calls = NonNullable<RunReport['calls']>;

export interface Conclusion {
  readonly elapsedMs: number;
  /** Absent when nothing is left, or nothing was recorded. */
  readonly next: string | undefined;
}

/** `201 calls: 198 executed, 2 failed (rate limit), 1 not executed, $1.37, 2m10s; next: mlld run patrol --resume failed` */
export function renderCallSummary(calls: Calls, { elapsedMs, next }: Conclusion): string {
  const { superseded } = calls;
  return `${superseded ? `${inVain(superseded)}\n` : ''}${countsOf(calls, duration(elapsedMs))}${next === undefined ? '' : `; next: ${oneLine(next)}`}\n`;
}

/** Renders the line of what a run's child pipelines did, which its own counts have nothing of. */
export function renderChildCalls(calls: Calls): string {
  return `in child pipelines: ${countsOf(calls)}\n`;
}

function countsOf(calls: Calls, took?: string): string {
  const { total, executed, reused, failed, accepted, denied, notExecuted, retries, savedUsd, atWorkers, failedAtWorkers } = calls;
  const parts = [
    countOf(reused - (atWorkers?.calls ?? 0), `reused${withoutInside(calls)}`),
    atWorkers && countOf(atWorkers.calls, `executed by workers${priceOf(atWorkers.costUsd)}`),
    countOf(executed, 'executed'),
    countOf(failed - accepted, `failed${causesOf(calls)}`),
    countOf(accepted, 'accepted'),
    priceOfFailed(failedAtWorkers),
    countOf(denied, 'denied'),
    countOf(notExecuted, 'not executed'),
    countOf(retries, retries === 1 ? 'retry' : 'retries'),
    costOf(calls),
    savedUsd === null || savedUsd === 0 ? undefined : `saved ${money(savedUsd)}`,
    took,
  ];
  // A run that was stopped during its first call has counted none.
  return `${total} ${total === 1 ? 'call' : 'calls'}${total === 0 ? ', ' : ': '}${parts.filter((part) => part !== undefined).join(', ')}`;
}

/** ` (2 calls inside without a result)`: earlier runs recorded these results although calls inside them had failed. */
function withoutInside({ unresolvedInside = 0 }: Calls): string {
  if (unresolvedInside === 0) return '';
  return ` (${unresolvedInside} ${unresolvedInside === 1 ? 'call' : 'calls'} inside without a result)`;
}

/** Renders the last line of a recorded run without a call: whoever expected some looks for the reason. */
export function renderNoCalls(elapsedMs: number): string {
  return `0 calls, ${duration(elapsedMs)}\n`;
}

/** The most frequent cause first. */
function causesOf({ unresolvedByClass }: Calls): string {
  const causes = Object.entries(unresolvedByClass)
    .filter(([cause]) => cause !== 'upstream')
    .sort(([, left], [, right]) => right - left)
    .map(([cause]) => wordsOfCause(cause as keyof typeof unresolvedByClass));
  return causes.length === 0 ? '' : ` (${causes.join(', ')})`;
}

/** Undefined where nothing was executed, and no attempt could have cost anything. */
function costOf(calls: Calls): string | undefined {
  const { executed, unpriced, attempts, overBudgetUsd, overBudgetTokens } = calls;
  const costUsd = knownCost(calls);
  const over = [
    ...(overBudgetUsd === undefined ? [] : [money(overBudgetUsd)]),
    ...(overBudgetTokens === undefined ? [] : [`${overBudgetTokens} tokens`]),
  ];
  const excess = over.length === 0 ? '' : `, over by ${over.join(' and ')}`;
  if (costUsd === null && attempts > 0 && unpriced > 0) return `cost unknown${excess}`;
  if (costUsd === null || (calls.costUsd === null && executed === 0)) return undefined;
  return `${unpriced === 0 ? money(costUsd) : `${money(costUsd)} + ${unpriced} unpriced`}${excess}`;
}

/** Undefined where workers have told no cost of what failed. */
function priceOfFailed(failed: Calls['failedAtWorkers']): string | undefined {
  const { costUsd = null } = failed ?? {};
  return costUsd === null ? undefined : `${money(costUsd)} for what failed at workers`;
}

function countOf(count: number, what: string): string | undefined {
  return count === 0 ? undefined : `${count} ${what}`;
}
