/**
 * Counts the calls of a run: the one place that decides what every report, list, page and export calls executed, reused and failed.
 * calls.md 14.1 and 10.6.
 *
 * COUNTS-1 A call is one use of an `llm` function. It counts once, whatever the number of its attempts, and as exactly one of these:
 *    executed (its body gave a result, also one that may not be reused), reused, failed, denied by a guard, not executed (an argument has
 *    a failure in it). A call that has not ended counts as none of them.
 * COUNTS-2 A failed call no longer counts once another call of its key has ended, because it was made again. Where both stand side by
 *    side in a loop or a group, it counts all the same: the value of that has the failure in it, whatever the other call got. So it does
 *    where it lies in a call and the other one outside of that: a result was made without it. Where the call around it is executed again,
 *    by another attempt or for a guard, it no longer counts: nothing is made of the execution that it was a part of.
 *    One that the next attempt of a pipeline's stage makes again was an attempt, and no longer counts either. One of a stage that failed is
 *    accepted once the walk leaves the stage: the graph says what to do about it. calls.md 17.3.
 *    An execution that an after-guard requested belongs to the call that was made first, and its attempts are retries of it. One that
 *    failed counts until that call has ended. calls.md 17.
 * COUNTS-3 An attempt counts when it starts. One that is in flight when the run ends has no cost that anyone knows, so it is unpriced.
 *    Its result may have come back, and guards were to judge it: then its cost is known. A call whose guards judge the result of an
 *    earlier execution has no attempt: that execution counts, with its cost, in the run that made it. calls.md 17.4.
 * COUNTS-4 Tokens and costs are those of attempts, failed ones included; null where no attempt reported any, because unknown is not free.
 * COUNTS-5 A start that was withdrawn counts as no attempt: its body did not begin.
 * COUNTS-6 An attempt whose end a salvage run has counts in that run alone, where several runs are added up. team-store.md 4.5.
 */
import { addUsd, sumUsd } from '../../../journal/facts/add-usd.js';
import type { EventOf, FactOf, JournalEvent } from '../../../journal/event.js';
import { addFailed, endAround, failedBefore, isLeft, makeAgain, takeOut } from '../../../journal/facts/failed-calls.js';
import type { CallKey, OpPath } from '../../../journal/ids.js';
import { ancestorsOf, parentOf } from '../op-path.js';
import { countAttempt, countEnd, noCalls, sumOf, takeCostBack, type CallCounts } from './call-counts.js';
import {
  costOfJudged,
  endedCall,
  measuresOf,
  type AttemptEnd,
  type AttemptStart,
  type CountedFact,
  type EndedCall,
  type Reuse,
} from './ended-call.js';
import { isUnpriced } from './failure-class.js';
import type { AttemptInFlight, CallLedger, FailedCall } from './ledger-state.js';
import { isRequested } from './requested-executions.js';
import { endVisit, failInStage, isRepeated, leaveStage, retryStage } from './stage-retries.js';

export { emptyLedger, type AttemptInFlight, type CallLedger, type FailedCall } from './ledger-state.js';

/** A call that has ended, with what all its attempts came to. */
export interface CountedCall extends EndedCall {
  /** Empty where the line that named it is damaged. */
  readonly fn: string;
  readonly key: CallKey;
  /**
   * Undefined where the cost of one of its attempts is not known, and for a call that was not executed. Of a result that was judged later
   * it is that of the execution that it came from.
   */
  readonly totalUsd: number | undefined;
  /** Guards judged its result, so that its cost was known before it ended: `costOfReceived`. */
  readonly wasReceived?: true;
}

/** The types of the events that say something about calls, and about how the failed ones of a pipeline's stages count. */
export const COUNTED: ReadonlySet<string> = new Set<JournalEvent['type']>([
  'call.started',
  'result.received',
  'call.completed',
  'call.failed',
  'call.withdrawn',
  'call.reused',
  'retry.scheduled',
  'node.finished',
  'edge.selected',
  'run.started',
  'run.finished',
]);

/**
 * Counts an event, and returns the call that it ends; of the executions that a guard requested those alone that gave a result.
 * `groups`: further counts that the call belongs to (a phase, a filter); those of its first event hold for all of it.
 */
export function followCall(
  ledger: CallLedger,
  event: JournalEvent | CountedFact,
  groups: readonly CallCounts[] = [],
): CountedCall | undefined {
  switch (event.type) {
    case 'call.started':
      startAttempt(ledger, event, groups);
      return undefined;
    case 'call.completed':
    case 'call.failed':
      return endAttempt(ledger, event, groups);
    case 'result.received':
      receive(ledger, event);
      return undefined;
    case 'call.withdrawn':
      withdrawAttempt(ledger, event);
      return undefined;
    case 'call.reused':
      return reuse(ledger, event, groups);
    case 'retry.scheduled':
      for (const { failed } of retryStage(ledger.stages, event)) forget(ledger, failed);
      return undefined;
    case 'node.finished':
      endVisit(ledger.stages, event);
      return undefined;
    case 'edge.selected':
      acceptStage(ledger, event.op, event.from);
      return undefined;
    case 'run.started':
      ledger.unresolvedBefore = event.unresolvedBefore ?? 0;
      return undefined;
    case 'run.finished':
      if (event.status === 'restarted') leaveByRestart(ledger, event.node);
      ledger.unresolvedBefore = event.totals.unresolvedBefore ?? ledger.unresolvedBefore;
      return undefined;
    default:
      return undefined;
  }
}

/** Accepts the failed calls of the stage at which a `loop_restart` edge begins. */
export function leaveByRestart(ledger: CallLedger, node: string | undefined): void {
  if (node !== undefined) acceptStage(ledger, 'main' as OpPath, node);
}

/** Counts the unresolved calls without which calls around them have a result: a run that reuses that does not make them again. */
export function unresolvedInResults({ failures, attempts }: CallLedger): number {
  let count = 0;
  for (const failed of failures.byKey.values())
    for (const { around, end } of failed) if (around !== undefined && !attempts.has(around) && !end.isAccepted) count += 1;
  return count;
}

/** Returns the number of attempts that have started and not ended, and whose cost is not known for that. */
export function unpricedInFlight({ attempts }: CallLedger): number {
  let count = 0;
  for (const { hasFailed, isPriced } of attempts.values()) if (!hasFailed && !isPriced) count += 1;
  return count;
}

/** Returns what a call has cost whose result this event received; undefined where that is not known. */
export function costOfReceived({ attempts }: CallLedger, { op }: EventOf<'result.received'>): { fn: string; usd: number } | undefined {
  const { fn, spentUsd: usd } = attempts.get(op) ?? {};
  return fn === undefined || usd === undefined ? undefined : { fn, usd };
}

/**
 * Counts the attempts in flight of a run that has ended (COUNTS-3). To be called once, when no event follows. `salvaged`: the operations
 * whose attempts count in salvage runs (COUNTS-6).
 */
export function endRun({ attempts }: CallLedger, salvaged?: ReadonlySet<OpPath>): void {
  const taken: AttemptInFlight[] = [];
  for (const [op, attempt] of attempts) {
    const { hasFailed, isPriced, isRetry, isJudging, groups } = attempt;
    if (hasFailed || isJudging) continue;
    if (salvaged?.has(op) === true) {
      countAttempt(groups, isRetry, -1);
      taken.push(attempt);
    } else if (!isPriced) for (const counts of groups) counts.unpriced += 1;
  }
  for (const { received, groups } of taken) if (received) takeCostBack(groups, received, isUnpriced(received));
  attempts.clear();
}

/** Returns the model that most attempts used; null where none is known. */
export function usualModel({ models }: Pick<CallLedger, 'models'>): string | null {
  let usual: string | null = null;
  let most = 0;
  for (const [model, count] of models) if (count > most) [usual, most] = [model, count];
  return usual;
}

function isRequestedIn({ attempts }: CallLedger, event: AttemptStart | Reuse): boolean {
  const known = attempts.get(event.op)?.isRequested ?? event.isRequested;
  if (known !== undefined) return known;
  const around = parentOf(event.op);
  return around !== undefined && isRequested(event, attempts.get(around));
}

function reuse(ledger: CallLedger, event: Reuse, further: readonly CallCounts[]): CountedCall {
  const { fn, key, savedUsd } = event;
  const groups = groupsOf(ledger, fn, further);
  const end = endedCall(event);
  const isRequested = isRequestedIn(ledger, event);
  executeAgain(ledger, event.op, isRequested);
  resolve(ledger, event);
  takeUnresolved(ledger, event);
  for (const counts of groups) counts.savedUsd = sumUsd(counts.savedUsd, savedUsd);
  if (!isRequested) countEnd(groups, end, 1);
  return { fn, key, totalUsd: undefined, ...end };
}

/** Counts what the result was made without, once however often it is reused. */
function takeUnresolved(ledger: CallLedger, { key, op, unresolvedInside: calls }: Pick<Reuse, 'key' | 'op' | 'unresolvedInside'>): void {
  if (calls === undefined) return;
  if (!ledger.incomplete.byKey.has(key)) countUnresolved(ledger, calls);
  addFailed(ledger.incomplete, { key, op, around: callAround(ledger, op), calls });
}

function countUnresolved(ledger: CallLedger, calls: number): void {
  ledger.unresolvedBefore += calls;
  ledger.unresolvedReused += calls;
}

/** Returns the failed calls that the event takes out of the count because the call around them begins to be executed again. */
export function failedInExecutionBefore(ledger: CallLedger, event: AttemptStart | Reuse): readonly FailedCall[] {
  if (ledger.failures.inside.size === 0) return [];
  return failedBefore(ledger.failures, executionOf(event.op, isRequestedIn(ledger, event)));
}

/** COUNTS-2 */
function executeAgain(ledger: CallLedger, op: OpPath, isRequested: boolean): void {
  const { failures, incomplete, attempts } = ledger;
  const execution = executionOf(op, isRequested);
  const first = isRequested ? attempts.get(execution.around) : undefined;
  if (first) first.isRepeated = true;
  for (const failed of failedBefore(failures, execution)) forget(ledger, failed);
  for (const result of failedBefore(incomplete, execution)) {
    takeOut(incomplete, result);
    if (!incomplete.byKey.has(result.key)) countUnresolved(ledger, -result.calls);
  }
}

function executionOf(op: OpPath, isRequested: boolean): { readonly op: OpPath; readonly around: OpPath } {
  return { op, around: isRequested ? (parentOf(op) as OpPath) : op };
}

function startAttempt(ledger: CallLedger, event: AttemptStart, further: readonly CallCounts[]): void {
  const { op, key, fn, lane, attempt, try: tried = 1, received } = event;
  const before = ledger.attempts.get(op);
  const groups = before?.groups ?? groupsOf(ledger, fn, further);
  const isRequested = isRequestedIn(ledger, event);
  executeAgain(ledger, op, isRequested);
  const isRetry = tried > 1 || isRequested || isRepeated(ledger.stages, op);
  ledger.attempts.set(op, {
    key,
    fn,
    lane,
    attempt,
    isRequested,
    isRetry,
    groups,
    spentUsd: before ? before.spentUsd : 0,
    hasFailed: false,
    ...(received && { isPriced: true, isJudging: true }),
  });
  if (!received) countAttempt(groups, isRetry, 1);
}

/** COUNTS-5. Attempts of the call before it have failed, and keep what they had cost. */
function withdrawAttempt({ attempts }: CallLedger, { op, try: tried = 1 }: FactOf<'call.withdrawn'>): void {
  const attempt = attempts.get(op);
  if (!attempt?.isJudging) countAttempt(attempt?.groups ?? [], attempt?.isRetry === true, -1);
  if (attempt && tried > 1) attempt.hasFailed = true;
  else attempts.delete(op);
}

function endAttempt(ledger: CallLedger, event: AttemptEnd, further: readonly CallCounts[]): CountedCall | undefined {
  const attempt = ledger.attempts.get(event.op);
  const end = endedCall(event);
  const fn = attempt?.fn ?? (event.type === 'call.failed' ? event.fn : undefined) ?? '';
  const groups = attempt?.groups ?? groupsOf(ledger, fn, further);
  if (attempt?.hasFailed !== true && !attempt?.isPriced) countCost(ledger, groups, { end, attempt });
  if (event.type === 'call.failed' && event.retryInMs !== undefined) {
    if (attempt) attempt.hasFailed = true;
    return undefined;
  }
  ledger.attempts.delete(event.op);
  if (event.type === 'call.failed' && event.waited) return undefined;
  endRequested(ledger, event.op);
  const around = end.outcome === 'executed' ? undefined : callAround(ledger, event.op);
  const ending = { hasResult: end.outcome === 'executed', around };
  endAround(ledger.failures, event.op, ending);
  endAround(ledger.incomplete, event.op, ending);
  if (end.outcome !== 'denied') resolve(ledger, event);
  if (attempt?.isJudging && !attempt.isRepeated && event.type === 'call.completed') takeUnresolved(ledger, event); // of an earlier execution
  if (end.outcome === 'failed' || end.outcome === 'not-executed') {
    const failed = { key: event.key, op: event.op, end, groups, around };
    addFailed(ledger.failures, failed);
    if (attempt?.isRequested) failAsRequested(ledger, failed);
    else failInStage(ledger.stages, event.op, event.key, failed);
  }
  if (!attempt?.isRequested || end.outcome === 'failed') countEnd(groups, end, 1);
  if (attempt?.isRequested && end.outcome !== 'executed') return undefined;
  // One that was judged is free for another reason than that it only made calls.
  if (attempt?.isJudging) return { fn, key: event.key, totalUsd: costOfJudged(event), ...end, onlyCalls: undefined };
  return { fn, key: event.key, totalUsd: attempt?.spentUsd, ...(attempt?.isPriced && { wasReceived: true }), ...end };
}

/** The result is paid for, whatever the guards make of it. */
function receive(ledger: CallLedger, event: EventOf<'result.received'>): void {
  const attempt = ledger.attempts.get(event.op);
  if (!attempt) return;
  attempt.isPriced = true;
  attempt.received = { outcome: 'executed', ...measuresOf(event) };
  countCost(ledger, attempt.groups, { end: attempt.received, attempt });
}

/** Adds the time and the cost of an attempt that has ended. */
function countCost(
  { models }: CallLedger,
  groups: readonly CallCounts[],
  { end, attempt }: { readonly end: EndedCall; readonly attempt: AttemptInFlight | undefined },
): void {
  const { outcome, usage, durationMs = 0 } = end;
  // A call that a guard denied before its body ran is recorded as started all the same; no lane let it start.
  const wasExecuted = outcome !== 'not-executed' && !(outcome === 'denied' && attempt?.lane === undefined && usage === undefined);
  const hasNoCost = isUnpriced(end);
  if (attempt && !wasExecuted) countAttempt(groups, attempt.isRetry, -1);
  if (!attempt && wasExecuted) countAttempt(groups, false, 1); // the line that started it is damaged
  for (let i = 0; i < groups.length; i++) {
    const counts = groups[i] as CallCounts;
    if (wasExecuted && hasNoCost) counts.unpriced += 1;
    counts.callsMs += durationMs;
    if (usage === undefined) continue;
    counts.inputTokens = sumOf(counts.inputTokens, usage.inputTokens);
    counts.outputTokens = sumOf(counts.outputTokens, usage.outputTokens);
    counts.costUsd = sumUsd(counts.costUsd, usage.costUsd);
  }
  if (attempt && attempt.spentUsd !== undefined) attempt.spentUsd = hasNoCost ? undefined : addUsd(attempt.spentUsd, usage?.costUsd ?? 0);
  if (usage?.model !== undefined) models.set(usage.model, (models.get(usage.model) ?? 0) + 1);
}

function failAsRequested({ requested }: CallLedger, failed: FailedCall): void {
  const around = parentOf(failed.op) as OpPath;
  requested.set(around, [...(requested.get(around) ?? []), failed]);
}

/** Returns the call in flight in which the operation lies. An execution that a guard requested is a part of that one. */
function callAround({ attempts }: CallLedger, op: OpPath): OpPath | undefined {
  if (attempts.size === 0) return undefined;
  for (const path of ancestorsOf(op)) if (attempts.get(path)?.isRequested === false) return path;
  return undefined;
}

/** The call has ended, and counts itself now. */
function endRequested(ledger: CallLedger, op: OpPath): void {
  for (const failed of ledger.requested.get(op) ?? []) forget(ledger, failed);
  ledger.requested.delete(op);
}

/** COUNTS-2 */
function resolve({ failures }: CallLedger, again: { readonly key: CallKey; readonly op: OpPath }): void {
  for (const { groups, end } of makeAgain(failures, again)) countEnd(groups, end, -1);
}

/** It was an attempt, or a part of one, of a call that counts by itself: another attempt follows, or that call has ended. */
function forget({ failures }: CallLedger, failed: FailedCall): void {
  if (takeOut(failures, failed)) countEnd(failed.groups, failed.end, -1);
}

/** The graph leads on from a stage that may have failed: by an edge, a jump, or a restart. */
function acceptStage({ stages, failures }: CallLedger, walk: OpPath, node: string): void {
  for (const { failed } of leaveStage(stages, walk, node)) {
    if (failed.end.isAccepted || !isLeft(failures, failed)) continue;
    countEnd(failed.groups, failed.end, -1);
    failed.end = { ...failed.end, isAccepted: true };
    countEnd(failed.groups, failed.end, 1);
  }
}

function groupsOf(ledger: CallLedger, fn: string, further: readonly CallCounts[]): readonly CallCounts[] {
  let counts = ledger.functions.get(fn);
  if (counts === undefined) ledger.functions.set(fn, (counts = noCalls()));
  return further.length === 0 ? [ledger.total, counts] : [ledger.total, counts, ...further];
}
