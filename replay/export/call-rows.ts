/** Lists the calls of a run, or their attempts, as rows of a table, for spreadsheets and scripts. */
import type { RunRef } from '../../journal/ids.js';
import { addUsage } from '../fold/add-usage.js';
import { costOfCall } from '../reports/timeline/call-cost.js';
import { outcomeOf, timeAtWorkerMs } from './call-at-worker.js';
import { callsOf, type Timeline, type TimelineCall } from '../reports/timeline/timeline.js';

export const CALL_COLUMNS = [
  'run',
  'seq',
  'op',
  'fn',
  'outcome',
  'phase',
  'started',
  'durationMs',
  'inputTokens',
  'outputTokens',
  'costUsd',
  'attempt',
  'fromRun',
  'fromSeq',
  'argument',
  'message',
  'class',
  'attempts',
  'model',
  'unpriced',
  'worker',
  'workerHost',
  'workerUsd',
] as const;

export type CallRow = { readonly [C in (typeof CALL_COLUMNS)[number]]: string | number | undefined };

/**
 * `started`: ISO 8601, UTC. `argument`: the beginning of the first one; undefined when it may not be read. `unpriced`: the number of
 * attempts whose cost is not known, so that `costUsd` is the least that the call cost. `workerUsd`: what a call cost at `worker`, whose run
 * has its attempts; its time is that from the offer to the result.
 */
export function* callRows({ run }: RunRef, state: Timeline): Generator<CallRow> {
  const repeated = repeatedCalls(state);
  for (const { span, call: last } of callsOf(state)) {
    if (repeated.has(last)) continue;
    const call = withAttemptsBefore(last);
    const { costUsd, unpriced } = costOfCall(call);
    yield {
      run,
      seq: call.seq,
      op: span.op,
      fn: call.fn,
      outcome: outcomeOf(call),
      phase: span.phase,
      started: new Date(call.startedMs).toISOString(),
      durationMs: timeAtWorkerMs(call) ?? call.durationMs,
      inputTokens: call.usage?.inputTokens,
      outputTokens: call.usage?.outputTokens,
      costUsd,
      attempt: call.attempt,
      fromRun: call.from?.run,
      fromSeq: call.from?.seq,
      argument: call.preview,
      message: call.message,
      class: call.cause,
      attempts: call.from === undefined && !call.worker ? call.attempts.length : undefined,
      model: call.usage?.model,
      unpriced: call.from === undefined && !call.worker ? unpriced : undefined,
      worker: call.worker?.name,
      workerHost: call.worker?.host,
      workerUsd: call.worker?.costUsd,
    };
  }
}

/** The failed calls of stages that further attempts of these make again. */
function repeatedCalls(state: Timeline): ReadonlySet<TimelineCall> {
  const repeated = new Set<TimelineCall>();
  for (const { call } of callsOf(state)) if (call.repeats !== undefined) repeated.add(call.repeats);
  return repeated;
}

/** Returns the call as one that began with the first attempt of its stage. */
function withAttemptsBefore(call: TimelineCall): TimelineCall {
  let whole = call;
  for (let before = call.repeats; before !== undefined; before = before.repeats) {
    const { seq, startedMs, attempts, usage } = before;
    whole = { ...whole, seq, startedMs, attempts: [...attempts, ...whole.attempts], usage: addUsage(usage, whole.usage) };
  }
  return whole;
}

export const ATTEMPT_COLUMNS = [
  'run',
  'seq',
  'op',
  'fn',
  'call',
  'try',
  'outcome',
  'class',
  'status',
  'lane',
  'provider',
  'model',
  'adapter',
  'session',
  'phase',
  'started',
  'waitedMs',
  'durationMs',
  'retryInMs',
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'costUsd',
  'costSource',
  'argument',
  'message',
] as const;

export type AttemptRow = { readonly [C in (typeof ATTEMPT_COLUMNS)[number]]: string | number | undefined };

/**
 * `call`: the `seq` of the call that the attempt belongs to; `try`: its number in that call, from 1; `status`: of HTTP. A reused result has
 * no attempt, and neither has a call that was not executed, whose result came back in an earlier execution, or that a worker executed,
 * whose run has them.
 */
export function* attemptRows({ run }: RunRef, state: Timeline): Generator<AttemptRow> {
  for (const { span, call } of callsOf(state)) {
    if (call.worker) continue;
    const whole = withAttemptsBefore(call);
    const before = whole.attempts.length - call.attempts.length;
    for (const { seq, startedMs, usage, cause, ...attempt } of call.attempts) {
      yield {
        run,
        seq,
        op: span.op,
        fn: call.fn,
        call: whole.seq,
        try: before + attempt.try,
        outcome: attempt.outcome,
        class: cause,
        status: attempt.status,
        lane: attempt.lane,
        provider: usage?.provider,
        model: usage?.model,
        adapter: attempt.adapter,
        session: attempt.session,
        phase: span.phase,
        started: new Date(startedMs).toISOString(),
        waitedMs: attempt.waitedMs,
        durationMs: attempt.durationMs,
        retryInMs: attempt.retryInMs,
        inputTokens: usage?.inputTokens,
        cachedInputTokens: usage?.cachedInputTokens,
        cacheWriteTokens: usage?.cacheWriteTokens,
        outputTokens: usage?.outputTokens,
        reasoningTokens: usage?.reasoningTokens,
        costUsd: usage?.costUsd,
        costSource: usage?.costSource,
        argument: call.preview,
        message: attempt.message,
      };
    }
  }
}
