/**
 * Makes an adapter of a function of the script (`reply: @fn`). calls.md 7.7.
 *
 * REPLY-FUNCTION-1 No hook and no guard sees it, and it makes no call.
 * REPLY-FUNCTION-2 In an attempt nothing of it is recorded: a replay takes the end of the call from the record, and never calls it there.
 */
import type { ReplyFunction, ReplyPlace } from '../../calls/options.js';
import { MlldError } from '../../errors.js';
import type { BodyDeadline } from '../../runtime/body-deadline.js';
import type { Executable } from '../../runtime/definitions/executable.js';
import { callValue } from '../../runtime/evaluator-ports.js';
import { PLAIN, type Frame, type RunState } from '../../runtime/frame.js';
import type { OpNode } from '../../runtime/op-node.js';

interface Place extends ReplyPlace {
  readonly op: OpNode;
  readonly deadline?: BodyDeadline | undefined;
}

/** `at` is the place of the option. */
export function replyFunction(executable: Executable, frame: Frame, at: number): ReplyFunction {
  const { name } = executable;
  return {
    name: `@${name}`,
    read: (reply, place: Place) => callValue(executable, [reply], frameOf(frame, place, name), { at, called: [name] }),
  };
}

function frameOf(frame: Frame, { op, deadline, isRecorded }: Place, name: string): Frame {
  const { run, context, stack, secret } = frame;
  const policy = (): never => {
    throw new MlldError('CALL_OPTION', `@${name} reads the reply of a call, and can't make a call itself`, {
      hint: 'make the second call where the result of the first is used',
    });
  };
  const recorder: RunState['recorder'] = isRecorded ? run.recorder : NOT_RECORDED;
  return {
    ...frame,
    ...PLAIN,
    stack,
    secret,
    op,
    deadline,
    run: { ...run, recorder, cache: { ...run.cache, policy } },
    context: { ...context, suppress: 'all', checkpoint: undefined },
  };
}

const NOT_RECORDED: RunState['recorder'] = { on: false, post: () => undefined, append: async () => undefined };
