/**
 * Executes one attempt of the call of a stage, within the time limit of its node, and says in the words of calls.md how it failed. The time
 * in the queue of a lane does not count. calls.md 6.5 and 17.
 */
import { failureOfThrown } from '../../calls/evidence/thrown.js';
import { MlldError } from '../../errors.js';
import { BodyDeadline } from '../../runtime/body-deadline.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import { Denial } from '../../runtime/denial.js';
import type { Frame } from '../../runtime/frame.js';
import { CalledOff } from '../../operation/failures/accepted-failure.js';
import { exceedingOutput } from '../../world/process/output.js';
import { WorldError } from '../../world/world.js';
import { nodeAttribute } from '../model/graph.js';
import { BranchCancelled, DECIDED, PipelineError, StageError } from '../model/outcome.js';
import type { Backend, ModelReply, ModelRequest } from '../stage/backend.js';
import type { Stage } from '../stage/stage.js';
import { ownOutcome } from '../stage/status-file.js';
import { startLimit, timedOut } from '../stage/time-limit.js';
import { withAbortSignal } from '../stage/with-abort-signal.js';

/** @param isForeign the backend is code of the embedding program, whose exceptions are read like those of a client */
export async function executeAttempt(
  stage: Stage,
  frame: Frame,
  backend: Backend,
  request: ModelRequest,
  isForeign: boolean,
): Promise<ModelReply> {
  const { run, node } = stage;
  const isCalledOff = (): boolean => stage.signal.reason === DECIDED;
  if (stage.signal.aborted) throw isCalledOff() ? new CalledOff() : new BranchCancelled(); // while the attempt waited in its lane
  const limitMs = nodeAttribute(node, 'timeout');
  const { path: op } = stage.frame.op;
  const limit = startLimit((about, lifted) => run.wait({ ...about, op }, lifted), limitMs, stage.signal);
  const deadline = new BodyDeadline(() => Number.POSITIVE_INFINITY, frame.deadline);
  const expire = (): void => deadline.expire();
  limit.signal.addEventListener('abort', expire, { once: true });
  const limited = (around: Frame): Frame => ({ ...withAbortSignal(around, limit.signal), deadline });
  try {
    const inLimit = { ...stage, frame: limited(stage.frame), signal: limit.signal };
    return checkedReply(await limit.race(backend.execute(inLimit, limited(frame), request)), backend.name);
  } catch (error) {
    if (isCalledOff()) throw new CalledOff(error);
    if (limit.isOver()) throw failedAttempt('timeout', timedOut(limitMs, error));
    // The deadline reports that a time limit has passed, which is not so when the run or the branch ended the stage. What a program says of
    // a failure while its run is being ended says no more than that it was ended.
    const isEnded = frame.run.signal.aborted && (error instanceof StageError || error instanceof AttemptFailed);
    const isInterrupted = stage.signal.aborted && (isEnded || (error instanceof WorldError && error.code === 'INTERRUPTED'));
    throw isInterrupted
      ? new WorldError('INTERRUPTED', 'interrupted: its stage was ended', { cause: error })
      : asFailure(error, isForeign, frame.attempt?.nowMs() ?? 0);
  } finally {
    limit.signal.removeEventListener('abort', expire); // a walk without a limit has one signal for all its stages
    limit.lift();
  }
}

/** A reply without a text would be recorded as paid for, and could never be read again. */
function checkedReply(reply: ModelReply, name: string): ModelReply {
  const { reply: text, outcome } = ((reply as unknown) ?? {}) as Partial<ModelReply>;
  if (typeof text !== 'string') throw new StageError('permanent', `the backend ${name} has to reply with a text "reply"`);
  return outcome ? { ...reply, outcome: ownOutcome(outcome, `the outcome of the backend ${name}`) } : reply;
}

/** Leaves an error alone that decides by itself how the call ends. */
function asFailure(error: unknown, isForeign: boolean, nowMs: number): unknown {
  if (error instanceof StageError) return failedAttempt('crash', error);
  const isDecided = [MlldError, WorldError, Denial, BranchCancelled, PipelineError].some((kind) => error instanceof kind);
  if (!isForeign || isDecided || !(error instanceof Error) || exceedingOutput(error)) return error;
  const known = failureOfThrown(error, nowMs);
  const [message = ''] = error.message.split('\n');
  return new AttemptFailed({ class: 'crash', evidence: 'none', ...known, message }, { cause: error });
}

function failedAttempt(failureClass: 'crash' | 'timeout', cause: StageError): AttemptFailed {
  const evidence = failureClass === 'timeout' ? 'clock' : 'none';
  return new AttemptFailed({ class: failureClass, evidence, message: cause.message }, { cause });
}
