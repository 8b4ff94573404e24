/** Reads what the events of a call say about one execution of it: an attempt of the run itself, or the worker that executed the call. */
import type { EventOf, Usage } from '../../../journal/event.js';
import type { Seq } from '../../../journal/ids.js';
import { addUsage } from '../../fold/add-usage.js';
import type { CallOutcome } from '../../fold/calls/ended-call.js';
import type { CallCause } from '../../fold/calls/failure-class.js';
import type { Span } from './timeline.js';

/** One execution of a call's body. */
export interface TimelineAttempt {
  readonly seq: Seq;
  readonly try: number;
  readonly lane: string | undefined;
  /** The time that it waited for its lane or the budget. */
  readonly waitedMs: number | undefined;
  readonly startedMs: number;
  outcome: CallOutcome | 'unfinished';
  endedMs: number | undefined;
  durationMs: number | undefined;
  usage: Usage | undefined;
  message: string | undefined;
  /** The class of its failure. */
  cause: CallCause | undefined;
  /** Another attempt followed after this time. */
  retryInMs: number | undefined;
  /** It did nothing but make calls, whose cost is theirs. */
  onlyCalls: true | undefined;
  /** Its result came back, so that its cost is known, and guards judged it. */
  isReceived?: true;
  /** The adapter that read the reply. */
  adapter: string | undefined;
  session: string | undefined;
  /** The HTTP status of a failure. */
  status: number | undefined;
  /** As the conventions of OpenTelemetry word it; undefined where the reply did not say. */
  finishReason: FinishReason | undefined;
}

type FinishReason = 'stop' | 'length' | 'content_filter';

/** The worker that executed a call for the run, its machine, and what the call cost there: the worker's run has the attempts. */
export interface CallAtWorker {
  readonly name: string;
  readonly host: string | undefined;
  /** US dollars; undefined where it is not known, and for a call that failed. */
  readonly costUsd: number | undefined;
}

type Reply = Pick<TimelineAttempt, 'onlyCalls' | 'retryInMs' | 'adapter' | 'session' | 'status' | 'finishReason'>;

export const NO_REPLY: Reply = {
  onlyCalls: undefined,
  retryInMs: undefined,
  adapter: undefined,
  session: undefined,
  status: undefined,
  finishReason: undefined,
};

export function replyOf(event: EventOf<'call.completed' | 'call.failed'>): Reply {
  const { reply, session, onlyCalls } = event;
  const common = { adapter: reply?.adapter, session, onlyCalls };
  if (event.type === 'call.failed') {
    const { retryInMs, status } = event;
    return { ...common, retryInMs, status, finishReason: event.class === 'content' ? 'content_filter' : undefined };
  }
  const finishReason = event.truncated ? 'length' : reply && event.class === undefined ? 'stop' : undefined;
  return { ...common, retryInMs: undefined, status: undefined, finishReason };
}

/** The cost of an attempt is known before it ends where guards judge what came back. */
export function receiveResult(
  call: { readonly attempts: readonly TimelineAttempt[]; usage: Usage | undefined } | undefined,
  { usage, elapsedMs, onlyCalls }: EventOf<'result.received'>,
): void {
  const attempt = call?.attempts.at(-1);
  if (attempt?.outcome !== 'unfinished' || call === undefined) return;
  Object.assign(attempt, { usage, onlyCalls, durationMs: elapsedMs, isReceived: true });
  call.usage = addUsage(call.usage, usage);
}

/** The offer of a call is no event: it was made when the operation began, or behind its call before. */
export function offeredMs({ calls, startedMs }: Span): number {
  return calls.at(-1)?.endedMs ?? startedMs;
}

/** Its body did not begin. A call of which no attempt is left was not made here. */
export function withdrawAttempt({ calls }: Span): void {
  const call = calls.findLast(({ outcome }) => outcome === 'unfinished');
  if (call?.attempts.at(-1)?.outcome !== 'unfinished') return; // the line that started it is damaged
  call.attempts.pop();
  if (call.attempts.length === 0) calls.splice(calls.lastIndexOf(call), 1);
}

export function workerIn(event: EventOf<'call.started' | 'call.reused'>, costUsd: number | undefined): CallAtWorker | undefined {
  const { worker: name, workerHost: host } = event;
  return name === undefined ? undefined : { name, host, costUsd };
}
