/**
 * The one road for everything that happens in a run. Design section 2, instrumentation section 6.
 *
 * P1  The stages stand in `stages` in the order of the design; nothing else calls them.
 * P2  `op.started` and `op.finished` enclose every operation that starts, however it ends.
 * P3  An operation costs nothing for journal, hooks and guards that are not there.
 */
import { Signal } from '../language/completion.js';
import type { Frame } from '../language/frame.js';
import { textOf } from '../values/text.js';
import type { Value } from '../values/value.js';
import { Denial } from './denial.js';
import type { OpNode } from './identity.js';
import { answerOnce } from './memo.js';
import type { Body, Operation } from './operation.js';

type Outcome = 'ok' | 'reused' | 'denied' | 'failed';

/** Performs an operation below the frame's own; the result as the after-hooks left it. */
export async function perform(frame: Frame, operation: Operation, body: Body): Promise<Value> {
  const { recorder, instruments } = frame.run;
  const node = operation.index === undefined ? frame.op.child(operation.segment) : frame.op.at(operation.index);
  const inside = enter(frame, operation, node);
  if (!recorder.on && !operation.llm && !instruments.active) {
    // An after-the-fact denial can't exist without guards, so the function's own branch only matters for what it calls.
    return operation.call?.onDenied ? handled(inside, operation, () => body(inside, operation.inputs)) : body(inside, operation.inputs);
  }
  if (recorder.on) recorder.post(started(operation, node));
  const progress: Progress = { outcome: 'ok' };
  try {
    return await stages(inside, operation, body, progress);
  } catch (error) {
    progress.outcome = error instanceof Denial ? 'denied' : 'failed';
    progress.message = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    if (recorder.on) {
      const { outcome, message } = progress;
      recorder.post({ type: 'op.finished', op: node.path, outcome, ...(message === undefined ? {} : { message }) });
    }
  }
}

interface Progress {
  outcome: Outcome;
  message?: string;
}

async function stages(frame: Frame, operation: Operation, body: Body, progress: Progress): Promise<Value> {
  const { hooks, guards } = frame.run.instruments;
  const hooked = frame.run.instruments.active && frame.context.suppress === 'nothing';
  const guarded = frame.run.instruments.active && frame.context.suppress !== 'all';
  const inputs = hooked ? await hooks.before(frame, operation) : operation.inputs;
  const received = inputs === operation.inputs ? operation : { ...operation, inputs };
  let seen = frame;
  let result: Value;
  try {
    const served = await answerOnce(frame, received, async (inner, run) => {
      seen = inner;
      return handled(inner, received, async () => {
        const allowed = guarded ? await guards.before(inner, received, inputs) : inputs;
        const value = await (run ?? body)(inner, allowed);
        return guarded && !isSignal(value) ? guards.after(inner, received, allowed, value) : value;
      });
    });
    result = served.value;
    seen = served.frame;
    if (served.reused) progress.outcome = 'reused';
  } catch (error) {
    // A hook sees a denial but can't lift it: what it returns is ignored.
    if (error instanceof Denial && hooked) await hooks.after(deniedFrame(seen, error), received, denialObject(error));
    throw error;
  }
  return hooked && !isSignal(result) ? hooks.after(seen, received, result) : result;
}

/** The function's own `denied` branch, when it has one. */
async function handled(frame: Frame, operation: Operation, body: () => Promise<Value>): Promise<Value> {
  try {
    return await body();
  } catch (error) {
    const onDenied = operation.call?.onDenied;
    if (!(error instanceof Denial) || !onDenied) throw error;
    frame.run.deniedInside.add(frame.op);
    return onDenied(frame, error);
  }
}

function isSignal(value: unknown): boolean {
  return value instanceof Signal;
}

/** The frame of what happens inside an operation. `@mx.op` describes calls to their bodies; effects leave it alone. */
function enter(frame: Frame, operation: Operation, op: OpNode): Frame {
  return operation.call ? { ...frame, op, context: { ...frame.context, op: operation } } : { ...frame, op };
}

function deniedFrame(frame: Frame, denial: Denial): Frame {
  const { facts } = denial;
  const guard = {
    denied: true,
    name: facts.guardName?.slice(1) ?? null,
    reason: facts.reason,
    reasons: facts.reasons,
    hints: [],
    filter: facts.guardFilter,
    timing: facts.timing,
    try: 0,
  };
  return { ...frame, context: { ...frame.context, denied: true, guard } };
}

function denialObject({ facts }: Denial): Value {
  return { denied: true, decision: 'deny', reason: facts.reason, guardName: facts.guardName, guardFilter: facts.guardFilter };
}

const ITEM_UNITS = 256;

function started(operation: Operation, node: OpNode): { type: 'op.started' } & Parameters<Frame['run']['recorder']['post']>[0] {
  const { kind, name, labels, call, total, index, inputs } = operation;
  return {
    type: 'op.started',
    op: node.path,
    kind,
    ...(name === null ? {} : { name }),
    ...(call ? { site: call.site(), declared: call.declaredAt() } : {}),
    ...(labels.length === 0 ? {} : { labels }),
    ...(index === undefined || kind !== 'for:iteration' ? {} : { item: itemText(inputs[0]) }),
    ...(total === undefined ? {} : { total }),
  };
}

function itemText(item: Value): string {
  const text = textOf(item);
  return text.length > ITEM_UNITS ? text.slice(0, ITEM_UNITS) : text;
}

