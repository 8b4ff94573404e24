/**
 * Gives a call the result that came back in an earlier execution, and that no guard has judged: it is paid for, so that its body is not
 * executed again. calls.md 17.
 */
import { addKnownUsd } from '../../../journal/facts/add-usd.js';
import type { Usage } from '../../../journal/event.js';
import { Attempt, type AttemptView } from '../../calls/attempt.js';
import type { CallOptions } from '../../calls/options.js';
import type { ReadReply } from '../../calls/replies/read-reply.js';
import { withResultLabels } from '../../runtime/calls/result-labels.js';
import type { UnjudgedResult } from '../../runtime/calls/result-cache.js';
import type { Body } from '../../runtime/ports.js';
import type { CacheableCall } from '../cacheable-call.js';
import type { AttemptRecord, CallProgress } from './call-progress.js';

interface UnjudgedCall {
  readonly call: CacheableCall;
  readonly options: CallOptions;
  readonly progress: CallProgress;
  readonly record: AttemptRecord;
  readonly unjudged: UnjudgedResult;
}

/** Takes the place of the attempts of the call, inside the guards around them. */
export function insteadOfAttempts({ call, options, progress, record, unjudged }: UnjudgedCall): Body {
  const { run, op, operation, llm, around } = call;
  return async (frame) => {
    const { lane, model } = options;
    const view: AttemptView = { try: 1, ...(lane === undefined ? {} : { lane }), ...(model === undefined ? {} : { model }) };
    const attempt = new Attempt(op.path, view, options, frame.stack, run.calls?.nowMs ?? NO_CLOCK);
    attempt.isReceived = true;
    attempt.reply = replyOf(unjudged);
    progress.attempt = attempt;
    await record.started(view, undefined);
    progress.isStarted = true;
    progress.isOpen = true;
    progress.tries = 1;
    progress.callUsage = unjudged.measured?.()?.usage as Usage | undefined;
    run.usage.attemptEnded(undefined, true);
    const { costUsd, insideUsd, key } = unjudged;
    if (insideUsd !== undefined) attempt.reusedInside(insideUsd, key);
    const savedUsd = addKnownUsd(costUsd, insideUsd);
    if (savedUsd !== undefined) (operation.repeat?.first ?? around)?.reusedInside(savedUsd, key);
    return withResultLabels(unjudged.value(), operation.inputs, llm, unjudged.resultLabels);
  };
}

function replyOf({ fact: { reply, session, truncated } }: UnjudgedResult): ReadReply {
  return {
    adapter: (reply?.adapter ?? 'text') as ReadReply['adapter'], // of a version that knew another one, at worst
    ...(session !== undefined && { session }),
    ...(truncated && { truncated }),
  };
}

/** Nothing is timed that is not executed. */
const NO_CLOCK = (): number => 0;
