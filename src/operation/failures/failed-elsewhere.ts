/** Fails a call as a worker's execution of it has failed. team-store.md 7.2. */
import { MlldError } from '../../errors.js';
import { markCallFailure } from '../../runtime/calls/call-failure.js';
import type { OfferedCallState } from '../../runtime/calls/offered-call.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { itemOf, messageOfCall } from '../attempts/failed-attempt.js';
import { sitesOf, type CacheableCall, type CallIdentity, type Found } from '../cacheable-call.js';
import { recordedArguments } from '../recording/recorded-arguments.js';
import { acceptOrThrow, isAccepted } from './accepted-failure.js';
import type { FactOf } from '../../../journal/event.js';
import { wordsOfClass, type Failure, type FailureClass } from '../../calls/failure.js';
import type { CallOptions } from '../../calls/options.js';
import { paidFor } from '../../calls/price/paid-for.js';

type FailedElsewhere = Extract<OfferedCallState, { kind: 'failed' }>;

/** The name of the queue of attempts that a call belongs to. calls.md 12.1. */
export function paceOf(fn: string, { lane }: Pick<CallOptions, 'lane'>): string {
  return lane ?? `@${fn}`;
}

/**
 * Records the failure as an attempt that began in the worker's run: what it cost is counted there. A failure that stops its lane stops it
 * in this run too: the call waits for the pause of the run, as its own attempt would, or is to be executed again (undefined) where the run
 * waits for its allowance. calls.md 12.7.
 */
export async function failedElsewhere(call: CacheableCall, identity: CallIdentity, failed: FailedElsewhere): Promise<Found | undefined> {
  const { run, op, operation, llm } = call;
  const { key, request, definition } = identity;
  const { event, begun, worker } = failed;
  const args = await recordedArguments(call, identity);
  const options = await llm.options(operation.inputs);
  const error = errorOf(call, failed);
  if (identity.hasSecret) run.secrets.taint(error);
  const failure = stoppingFailure(failed);
  const dispatcher = failure && run.calls?.dispatcher;
  const paidUsd = paidFor(event);
  if (paidUsd !== undefined) (operation.repeat?.first ?? call.around)?.paidInside(paidUsd, undefined);
  await run.recorder.append({
    type: 'call.started',
    key,
    op: op.path,
    fn: request.fn,
    ...sitesOf(operation),
    args,
    fingerprint: definition.fingerprint,
    ...(request.attempt !== undefined && { attempt: request.attempt }),
    begun,
    ...(worker !== undefined && { worker: worker.name, workerHost: worker.host }),
  });
  await run.recorder.append(
    withoutUndefined<FactOf<'call.failed'>>({
      type: 'call.failed',
      key,
      op: op.path,
      message: event.message,
      code: dispatcher ? undefined : event.code, // the call has no error: it waits
      elapsedMs: event.elapsedMs,
      class: event.class,
      evidence: event.evidence,
      status: event.status,
      exitCode: event.exitCode,
      resetsAt: event.resetsAt,
      onlyCalls: true, // its cost is the worker's
      workerUsd: worker && paidUsd,
      accepted: !dispatcher && isAccepted(error, options) ? true : undefined,
    }),
  );
  if (failure && dispatcher) {
    await run.replayed?.call(op.path)?.waitForGood();
    const lane = paceOf(request.fn, options);
    dispatcher.failedElsewhere({ op: op.path, lane }, failure);
    await run.cache.offers?.stopped(lane);
    return undefined;
  }
  run.usage.callEnded('failed');
  return acceptOrThrow(call, error, { hit: false, key }, options);
}

/** Undefined for a failure that concerns its call alone. */
function stoppingFailure({ event, worker }: FailedElsewhere): Failure | undefined {
  if (event.class !== 'quota' && event.class !== 'auth') return undefined;
  const message = withoutClass(event.message, event.class); // who tells of the stop says the class
  return {
    class: event.class,
    evidence: event.evidence ?? 'none',
    message: worker === undefined ? message : `${message} (the worker ${worker.name})`,
    ...(event.resetsAt !== undefined && { resetsAtMs: Date.parse(event.resetsAt) }),
  };
}

/** Makes the error with which the call had ended here; an error of its body is the one that has a code of its own. */
function errorOf({ op, llm, operation }: CacheableCall, { event, worker }: FailedElsewhere): MlldError {
  const { class: failureClass, code = 'CALL_FAILED', message } = event;
  const hint = worker === undefined ? 'a worker executed the call' : `the worker ${worker.name} on ${worker.host} executed the call`;
  if (failureClass === undefined) return new MlldError(code, message, { hint });
  const facts = {
    fn: llm.fn,
    op: op.path,
    class: failureClass,
    attempts: event.try ?? 1,
    message,
    item: itemOf(operation.inputs),
    ...(event.resetsAt !== undefined && { resetsAtMs: Date.parse(event.resetsAt) }),
  };
  const text = code === 'CALL_FAILED' ? messageOfCall(facts) : withoutClass(message, failureClass);
  return markCallFailure(new MlldError(code, text, { hint }), facts);
}

function withoutClass(message: string, failureClass: FailureClass): string {
  const prefix = `${wordsOfClass(failureClass)}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}
