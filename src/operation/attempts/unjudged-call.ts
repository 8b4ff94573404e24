/**
 * Gives a call the result that came back in an earlier execution, and that no guard has judged: it is paid for, so that its body is not
 * executed again. calls.md 17.4.
 */
import { addKnownUsd } from '../../../journal/facts/add-usd.js';
import type { Usage } from '../../../journal/event.js';
import { Attempt, type AttemptView } from '../../calls/attempt.js';
import type { CallOptions } from '../../calls/options.js';
import type { ReadReply } from '../../calls/replies/read-reply.js';
import { withResultLabels } from '../../runtime/calls/result-labels.js';
import type { UnjudgedResult } from '../../runtime/calls/result-cache.js';
import type { Body } from '../../runtime/ports.js';
import type { Outcome } from '../../runtime/completion.js';
import type { Frame } from '../../runtime/frame.js';
import type { CacheableCall, CallIdentity } from '../cacheable-call.js';
import type { WaitingResult } from '../find-result.js';
import { digestOfSent } from '../recording/recorded-arguments.js';
import type { AttemptRecord, CallProgress } from './call-progress.js';

interface UnjudgedCall {
  readonly call: CacheableCall;
  readonly identity: CallIdentity;
  readonly options: CallOptions;
  readonly progress: CallProgress;
  readonly record: AttemptRecord;
  readonly unjudged: WaitingResult;
}

/**
 * Takes the place of the attempts of the call, inside the guards around them. Where the guards before the body send it something else now,
 * that other call is made: `attempts` makes it.
 */
export function insteadOfAttempts(waiting: UnjudgedCall, attempts: (body: Body) => Body): (body: Body) => Body {
  return (body) => async (frame, inputs) => {
    const { call, identity, unjudged } = waiting;
    const isSame = (await digestOfSent(call, identity, inputs)) === unjudged.known.fact.sent;
    return isSame ? received(waiting, frame) : attempts(body)(frame, inputs);
  };
}

async function received({ call, options, progress, record, unjudged: { known } }: UnjudgedCall, frame: Frame): Promise<Outcome> {
  const { run, op, operation, llm, around } = call;
  const { lane, model } = options;
  const view: AttemptView = { try: 1, ...(lane === undefined ? {} : { lane }), ...(model === undefined ? {} : { model }) };
  const attempt = new Attempt(op.path, view, options, frame.stack, run.calls?.nowMs ?? NO_CLOCK);
  attempt.isReceived = true;
  attempt.reply = replyOf(known);
  progress.attempt = attempt;
  await record.started(view, undefined);
  progress.isStarted = true;
  progress.isOpen = true;
  progress.tries = 1;
  progress.triesBefore = (known.fact.try ?? 1) - 1;
  progress.elapsedMs = known.fact.elapsedMs;
  progress.callUsage = known.measured?.()?.usage as Usage | undefined;
  const { costUsd, insideUsd, key, fact } = known;
  if (insideUsd !== undefined) attempt.reusedInside(insideUsd, key);
  const savedUsd = addKnownUsd(costUsd, insideUsd);
  if (savedUsd !== undefined) (operation.repeat?.first ?? around)?.reusedInside(savedUsd, key);
  attempt.countsIn = call.countsIn;
  attempt.isRequested = operation.repeat !== undefined;
  attempt.begins();
  attempt.receivedWithout = fact.unresolvedInside ?? 0;
  return withResultLabels(known.value(), operation.inputs, llm, known.resultLabels);
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
