/** Lists the calls of a run as rows of a table, for spreadsheets and scripts. */
import type { RunRef } from '../../journal/ids.js';
import { callsOf, type Timeline } from '../reports/timeline/timeline.js';

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
] as const;

export type CallRow = { readonly [C in (typeof CALL_COLUMNS)[number]]: string | number | undefined };

/** `started`: ISO 8601, UTC. `argument`: the beginning of the first one; undefined when it may not be read. */
export function* callRows({ run }: RunRef, state: Timeline): Generator<CallRow> {
  for (const { span, call } of callsOf(state)) {
    yield {
      run,
      seq: call.seq,
      op: span.op,
      fn: call.fn,
      outcome: call.outcome,
      phase: span.phase,
      started: new Date(call.startedMs).toISOString(),
      durationMs: call.durationMs,
      inputTokens: call.usage?.inputTokens,
      outputTokens: call.usage?.outputTokens,
      costUsd: call.usage?.costUsd,
      attempt: call.attempt,
      fromRun: call.from?.run,
      fromSeq: call.from?.seq,
      argument: call.preview,
      message: call.message,
    };
  }
}
