/** Executes a call that no recorded result was found for, and records its end before anyone sees it (CACHE-1). */
import type { CallOptions } from '../calls/options.js';
import { valueIn, type Outcome } from '../runtime/completion.js';
import { callFailureOf } from '../runtime/calls/call-failure.js';
import { ExecutedElsewhere } from '../runtime/calls/executed-elsewhere.js';
import type { Body } from '../runtime/ports.js';
import { labelsOfResult, withResultLabels } from '../runtime/calls/result-labels.js';
import { isSecret } from '../runtime/secrets/secret-registry.js';
import { inAttempts } from './attempts/attempts.js';
import { CallProgress, type AttemptRecord } from './attempts/call-progress.js';
import { excerptOf } from './attempts/excerpt.js';
import { withoutMessage } from './attempts/failed-attempt.js';
import { OwnClaim } from './attempts/own-claim.js';
import { acceptOrThrow, isAccepted } from './failures/accepted-failure.js';
import { countedAttempts, countedKey } from './failures/unrecorded-attempts.js';
import { insteadOfAttempts } from './attempts/unjudged-call.js';
import { CallFileWatch } from './files/call-files.js';
import type { CacheableCall, CallIdentity, Execute, Found, Lookup } from './cacheable-call.js';
import type { WaitingResult } from './find-result.js';
import { withMeasured } from './measured-result.js';
import { factsOfFailure, isInterruption, recordFailure } from './recording/record-failure.js';
import { failureMembers, measuredBy, receivedBefore, recordResult, replyMembers } from './recording/record-result.js';
import { recordStart, type Judging, type PassedOver } from './recording/record-start.js';

export const UNRECORDED: Lookup = { hit: false, key: null };

/** Executes a call where nothing is recorded. Its labels are in the same order as those of a recorded or a reused result. */
export async function executeUnrecorded(call: CacheableCall, body: Body | undefined, execute: Execute): Promise<Found> {
  const { run, op, operation, llm, secret } = call;
  const lookup = UNRECORDED;
  const options = await llm.options(operation.inputs);
  const progress = new CallProgress();
  const record = countedAttempts(call);
  show(call, options, progress);
  let made: Outcome;
  try {
    made = await execute(lookup, body, inAttempts(call, options, progress, record)).finally(() => progress.isRecorded());
  } catch (error) {
    progress.takeRepeats(call);
    if (progress.isOpen || !isInterruption(error)) {
      const facts = factsOfFailure(call, error, progress, isAccepted(error, options));
      run.recorder.count?.({ type: 'call.failed', key: await countedKey(call), op: op.path, fn: llm.fn, ...facts });
    }
    countFailure(call, error);
    return acceptOrThrow(call, error, lookup, options);
  }
  if (!progress.isStarted) await record.started({ try: 1 }, undefined); // a guard denied it, and its own branch gave a value
  progress.takeRepeats(call);
  run.usage.callEnded(progress.isPassedOn ? 'failed' : 'executed');
  run.unrecordedResults++;
  run.recorder.count?.({
    type: 'call.completed',
    key: await countedKey(call),
    op: op.path,
    elapsedMs: progress.elapsedMs,
    ...replyMembers(progress, run.secrets),
    ...failureMembers(progress),
    ...(run.deniedInside.has(op) && { denied: true }),
  });
  const { inputs } = operation;
  const isSealed = secret || isSecret(valueIn(made));
  const result = withResultLabels(made, inputs, llm, labelsOfResult(made, inputs, llm, isSealed));
  return { result: withMeasured(result, measuredBy(progress)), lookup };
}

/** Says which result the guards are to judge. */
function judgingOf({ known: { from, editedSince }, outputs, files }: WaitingResult): Judging {
  return {
    received: from,
    ...(editedSince !== undefined && { fingerprint: editedSince }),
    ...(outputs.length > 0 && { outputs }),
    ...(files.length > 0 && { files }),
  };
}

/** Shows the guards and after-hooks how far the call has come. */
function show({ sight }: CacheableCall, { lane, model }: CallOptions, progress: CallProgress): void {
  if (!sight) return;
  sight.view = () => ({ ...progress.view, lane, model });
  sight.attempt = () => progress.attempt;
}

/** Shows the guards a call of which no attempt has begun. */
export function showToGuards(call: CacheableCall, options: CallOptions): void {
  show(call, options, new CallProgress());
}

interface MissedCall {
  readonly lookup: Lookup;
  readonly passedOver: PassedOver;
  /** The result of the call that came back in an earlier execution: the guards judge it, and the body is not executed. */
  readonly unjudged: WaitingResult | undefined;
}

export async function executeAndRecord(
  call: CacheableCall,
  identity: CallIdentity,
  { lookup, passedOver, unjudged }: MissedCall,
  execute: (around: (body: Body) => Body) => Promise<Outcome>,
): Promise<Found> {
  const { llm, operation } = call;
  if (llm.writes) await llm.writes(operation.inputs); // paths that can't be evaluated are an error before anything is paid for
  const forming = llm.options(operation.inputs);
  const options = forming instanceof Promise ? await forming : forming;
  const progress = new CallProgress();
  show(call, options, progress);
  const files = new CallFileWatch(call, identity, options);
  const claim = new OwnClaim(call, identity, passedOver.refused);
  const record: AttemptRecord = {
    key: identity.key,
    claim,
    started(view, started, mayBegin) {
      const looking = view.try === 1 ? files.begin() : undefined;
      const passed =
        claim.refused === passedOver.refused ? passedOver : { ...passedOver, ...(claim.refused && { refused: claim.refused }) };
      const judging = unjudged && progress.attempt?.isReceived ? judgingOf(unjudged) : undefined;
      const why = judging ? { ...passed, ...judging } : passed;
      const recording = (): ReturnType<typeof recordStart> => recordStart(call, identity, why, { progress, view, started, mayBegin });
      return looking ? looking.then(recording) : recording();
    },
    failed: async (fact) => {
      const excerpt = await excerptOf(call, identity.hasSecret, progress.attempt);
      const shown = identity.hasSecret ? withoutMessage(fact) : fact;
      await call.run.recorder.append({ type: 'call.failed', key: identity.key, op: call.op.path, ...shown, ...(excerpt && { excerpt }) });
    },
  };
  try {
    let executed: Outcome;
    try {
      const attempts = inAttempts(call, options, progress, record);
      const around = call.isJudged?.() ? receivedBefore(attempts, { call, identity, progress, watch: files }) : attempts;
      executed = await execute(unjudged ? insteadOfAttempts({ call, identity, options, progress, record, unjudged }, around) : around);
    } catch (error) {
      if (error instanceof ExecutedElsewhere) throw error; // no attempt of it began
      progress.takeRepeats(call);
      await recordFailure(call, identity, error, { progress, record, isAccepted: isAccepted(error, options) });
      countFailure(call, error);
      return await acceptOrThrow(call, error, lookup, options);
    }
    if (!progress.isStarted) await record.started({ try: 1 }, undefined); // a guard denied it, and its own branch gave a value
    return { result: await recordResult(call, identity, executed, { progress, watch: files, unjudged: unjudged?.known }), lookup };
  } finally {
    progress.isRecorded(); // also when something between broke
  }
}

/**
 * A call that was denied, or that the end of the run interrupted, has not failed. One that a failure inside it ends has, as everywhere.
 */
function countFailure({ run }: CacheableCall, error: unknown): void {
  if (callFailureOf(error)) run.usage.callEnded('failed');
}
