/** Records the end of a call that has no result: it failed, was denied or was interrupted. */
import type { FactOf } from '../../../journal/event.js';
import { isStillWaiting } from '../../calls/dispatch/stop.js';
import { MlldError } from '../../errors.js';
import { callFailureOf } from '../../runtime/calls/call-failure.js';
import { Denial } from '../../runtime/denial.js';
import { GuardRetry } from '../../runtime/guard-retry.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { exceedingOutput } from '../../world/process/output.js';
import type { AttemptRecord, CallProgress } from '../attempts/call-progress.js';
import { excerptOf } from '../attempts/excerpt.js';
import { failedFacts, withoutMessage } from '../attempts/failed-attempt.js';
import type { CacheableCall, CallIdentity } from '../cacheable-call.js';
import { CalledOff } from '../failures/accepted-failure.js';

/** Records the end of a call that failed, was denied or was interrupted. One that was interrupted while no attempt ran leaves nothing. */
export async function recordFailure(
  call: CacheableCall,
  identity: CallIdentity,
  error: unknown,
  { progress, record, isAccepted }: { readonly progress: CallProgress; readonly record: AttemptRecord; readonly isAccepted: boolean },
): Promise<void> {
  const { run, op } = call;
  const { cache, deniedInside, recorder, secrets } = run;
  const { key, hasSecret } = identity;
  if (hasSecret) secrets.taint(error);
  if (!progress.isOpen) {
    if (isInterruption(error)) return; // while it waited for an attempt
    await record.started({ try: 1 }, undefined); // a guard denied it
  }
  const output = hasSecret ? undefined : exceedingOutput(error)?.kept;
  if (output && cache.policy().records && !deniedInside.has(op)) {
    // The output came back and is paid for: the next lookup finds it, and fails in the same way.
    const elapsedMs = progress.elapsedMs;
    const completing = recorder.append({ type: 'call.completed', key, op: op.path, result: { ...output, text: true }, elapsedMs });
    progress.isRecorded();
    await completing;
    return;
  }
  const isOwn = progress.failure !== undefined && callFailureOf(error)?.op === op.path;
  const excerpt = isOwn ? await excerptOf(call, hasSecret, progress.attempt) : undefined;
  const known = factsOfFailure(call, error, progress, isAccepted);
  const facts = hasSecret && isOwn ? withoutMessage(known) : known;
  const failing = recorder.append({ type: 'call.failed', key, op: op.path, ...facts, ...(excerpt && { excerpt }) });
  progress.isRecorded();
  await failing;
}

export function isInterruption(error: unknown): boolean {
  return error instanceof MlldError && error.code === 'INTERRUPTED';
}

type FailureMembers = Omit<FactOf<'call.failed'>, 'type' | 'key' | 'op'>;

/** Returns what `call.failed` says about the failure. */
export function factsOfFailure(
  { op, run: { secrets } }: CacheableCall,
  error: unknown,
  progress: CallProgress,
  isAccepted: boolean,
): FailureMembers {
  const { failure, usage, callUsage, costsInside, elapsedMs, isOpen, attempt } = progress;
  const facts = callFailureOf(error);
  const isOwn = failure !== undefined && facts?.op === op.path;
  return withoutUndefined<FailureMembers>({
    ...(isOwn
      ? failedFacts(failure, progress, secrets)
      : { elapsedMs, usage, onlyCalls: isOpen && attempt?.onlyCalls ? true : undefined, class: facts?.class }),
    callUsage: callUsage === usage ? undefined : callUsage,
    ...costsInside,
    message: facts && isOwn ? secrets.redact(facts.message) : secrets.messageOf(error),
    code: error instanceof MlldError ? error.code : undefined,
    denied: error instanceof Denial || error instanceof GuardRetry ? true : undefined,
    waited: isStillWaiting(error) ? true : undefined,
    accepted: isAccepted || error instanceof CalledOff ? true : undefined,
  });
}
