/** Fails a call as a worker's execution of it has failed. team-store.md 7.2. */
import { MlldError } from '../../errors.js';
import { markCallFailure } from '../../runtime/calls/call-failure.js';
import type { OfferedCallState } from '../../runtime/calls/offered-call.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { itemOf } from '../attempts/failed-attempt.js';
import { sitesOf, type CacheableCall, type CallIdentity, type Found } from '../cacheable-call.js';
import { acceptOrThrow, isAccepted } from './accepted-failure.js';
import type { FactOf } from '../../../journal/event.js';

type FailedElsewhere = Extract<OfferedCallState, { kind: 'failed' }>;

/** Records the failure as an attempt that began in the worker's run: what it cost is counted there. */
export async function failedElsewhere(call: CacheableCall, identity: CallIdentity, failed: FailedElsewhere): Promise<Found> {
  const { run, op, operation, llm } = call;
  const { key, request, definition } = identity;
  const { event, begun, worker } = failed;
  const args = await run.cache.payload(request.args);
  const options = await llm.options(operation.inputs);
  const error = errorOf(call, failed);
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
      code: event.code,
      elapsedMs: event.elapsedMs,
      class: event.class,
      evidence: event.evidence,
      status: event.status,
      exitCode: event.exitCode,
      resetsAt: event.resetsAt,
      onlyCalls: true, // its cost is the worker's
      accepted: isAccepted(error, options) ? true : undefined,
    }),
  );
  run.usage.callEnded('failed');
  return acceptOrThrow(call, error, { hit: false, key }, options);
}

function errorOf({ op, llm, operation }: CacheableCall, { event, worker }: FailedElsewhere): MlldError {
  const error = new MlldError(event.code ?? 'CALL_FAILED', event.message, {
    hint: worker === undefined ? 'a worker executed the call' : `the worker ${worker.name} on ${worker.host} executed the call`,
  });
  if (event.class === undefined) return error;
  return markCallFailure(error, {
    fn: llm.fn,
    op: op.path,
    class: event.class,
    attempts: event.try ?? 1,
    message: event.message,
    item: itemOf(operation.inputs),
    ...(event.resetsAt !== undefined && { resetsAtMs: Date.parse(event.resetsAt) }),
  });
}
