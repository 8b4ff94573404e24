/** Runs the body of an operation between its before-guards and its after-guards. instrumentation.md 4.3 to 4.5 and 6. */
import { Signal, type Outcome } from '../../runtime/completion.js';
import { Denial } from '../../runtime/denial.js';
import type { CallOperation } from '../../runtime/calls/llm-call.js';
import type { Frame } from '../../runtime/frame.js';
import type { Operation } from '../../runtime/operation.js';
import type { Body, GuardWatch } from '../../runtime/ports.js';
import type { Value } from '../../values/value.js';
import { isRequestedAgain, repeated } from './repeats.js';

/** Returns undefined where no guard can concern the operation, and inside guards. instrumentation.md 7. */
export function guardsOf({ run: { interceptors }, context: { suppress } }: Frame, operation: Operation): GuardWatch | undefined {
  return interceptors.active && suppress !== 'all' ? interceptors.guards.watch(operation) : undefined;
}

/** Executes the operation once. */
export async function guarded(guards: GuardWatch, frame: Frame, operation: Operation, body: Body): Promise<Outcome> {
  const inputs = await guards.before(frame, operation);
  const allowed = inputs === operation.inputs ? operation : { ...operation, inputs, pieces: undefined };
  const result = await body(frame, inputs);
  return withCarried(result, async (output, isReplaceable) => (isReplaceable ? guards.after(frame, allowed, output) : output));
}

/** The guards before a call that is offered decide before the offer, and not again where the run then executes the call itself. */
export function decidingOnce(guards: GuardWatch): GuardWatch {
  let deciding: Promise<readonly Value[]> | undefined;
  return {
    get denial() {
      return guards.denial;
    },
    judges: (received) => guards.judges(received),
    before: (frame, received) => (deciding ??= guards.before(frame, received)),
    after: (frame, allowed, output) => guards.after(frame, allowed, output),
  };
}

/** Guards and hooks see the value that a control word carries like a result; `skip`, `retry` and a bare word have none to replace. */
export async function withCarried(result: Outcome, look: (output: Value, isReplaceable: boolean) => Promise<Value>): Promise<Outcome> {
  if (!(result instanceof Signal)) return look(result, true);
  const carries = result.hasValue && result.word !== 'skip' && result.word !== 'retry';
  const output = await look(carries ? result.value : null, carries);
  return carries ? new Signal(result.word, output, true) : result;
}

/**
 * Runs the guards of a pipeline's stage around the call of its function. A stage is no operation of its own in the journal. What they deny
 * goes to the function's own `denied` branch, which sees no difference to a denied call; no call has started then, so that no result is
 * marked.
 */
export async function guardStage(frame: Frame, stage: CallOperation, call: Body): Promise<Outcome> {
  let own: Denial | undefined;
  const attempt = async (inner: Frame, operation: CallOperation): Promise<Outcome> => {
    const guards = guardsOf(inner, operation);
    if (!guards) return call(inner, operation.inputs);
    try {
      return await guarded(guards, inner, operation, call);
    } finally {
      own = guards.denial;
    }
  };
  try {
    return await attempt(frame, stage).catch((error: unknown) => {
      if (!isRequestedAgain(error)) throw error;
      return repeated(error, frame, stage, attempt);
    });
  } catch (error) {
    const onDenied = stage.call?.onDenied;
    if (!onDenied || !(error instanceof Denial) || error !== own) throw error;
    return onDenied(frame, stage.inputs, error);
  }
}
