/**
 * Executes an operation again for the `retry` of an after-guard. instrumentation.md 4.5, calls.md 17.
 *
 * REPEAT-1  Each execution is a call of its own: its key has a number that no retry of a pipeline has, so that a result which a guard
 *           refused is never reused for it, nor its result for a retry.
 * REPEAT-2  The result of the last execution is also that of the call that was made first: the next run finds it there, without the guard.
 */
import { numberOfExecution } from '../../../journal/facts/attempt-number.js';
import type { CallOperation, FormedCall, LlmCall } from '../../runtime/calls/llm-call.js';
import type { Outcome } from '../../runtime/completion.js';
import type { Frame } from '../../runtime/frame.js';
import { GuardRetry } from '../../runtime/guard-retry.js';
import type { GuardTry } from '../../runtime/guard-trail.js';
import type { GuardRepeat } from '../../runtime/operation.js';

export function isRequestedAgain(error: unknown): error is GuardRetry {
  return error instanceof GuardRetry && error.timing === 'after';
}

/** Returns the frame of the n-th execution, whose number is part of the identity of the calls in it (REPEAT-1). */
export function frameOfRepeat(frame: Frame, execution: number): Frame {
  const attempt = numberOfExecution(frame.context.attempt, execution);
  return { ...frame, context: { ...frame.context, attempt } };
}

/** Executes again until the after-guards are content. `further` is handed to each execution. */
export async function repeated(
  first: GuardRetry,
  frame: Frame,
  operation: CallOperation,
  execute: (frame: Frame, operation: CallOperation) => Promise<Outcome>,
  further: Omit<GuardRepeat, 'tries'> = { denied: () => undefined },
): Promise<Outcome> {
  const tries: GuardTry[] = [];
  for (let retry = first; ;) {
    tries.push(tryOf(retry, tries));
    const again = frameOfRepeat(frame, tries.length + 1);
    try {
      return await execute(again, repeatOf(operation, { tries: [...tries], ...further }, again.context.attempt));
    } catch (error) {
      if (!isRequestedAgain(error)) throw error;
      retry = error;
    }
  }
}

export function tryOf({ hint }: GuardRetry, before: readonly GuardTry[]): GuardTry {
  return { attempt: before.length + 1, decision: 'retry', hint };
}

/** The first execution handles the denials of all of them, so that the branch of the function runs once. */
function repeatOf(operation: CallOperation, repeat: NonNullable<CallOperation['repeat']>, attempt: number): CallOperation {
  const { call, llm, trail } = operation;
  return {
    ...operation,
    repeat,
    ...(call && { call: { ...call, onDenied: undefined } }),
    ...(llm && { llm: numbered(llm, attempt) }),
    ...(trail && { trail: trail.again() }),
  };
}

function numbered(llm: LlmCall, attempt: number): LlmCall {
  const withNumber = (formed: FormedCall): FormedCall => ({ ...formed, recordedAs: undefined, request: { ...formed.request, attempt } });
  return {
    ...llm,
    request: (inputs) => {
      const forming = llm.request(inputs);
      return forming instanceof Promise ? forming.then(withNumber) : withNumber(forming as FormedCall);
    },
  };
}
