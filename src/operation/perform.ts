/**
 * Every operation of a run is performed here. design.md 2, instrumentation.md 6.
 *
 * PERFORM-1  `stages` has the stages in the order of the design; nothing else calls them.
 * PERFORM-2  `op.started` and `op.finished` enclose every operation that starts, however it ends.
 * PERFORM-3  An operation costs nothing for journal, hooks and guards that are not there.
 */
import { Signal, valueIn, type Outcome } from '../runtime/completion.js';
import { Denial, denialObject } from '../runtime/denial.js';
import type { CallSight } from '../runtime/context.js';
import type { Frame } from '../runtime/frame.js';
import type { OpNode } from '../runtime/op-node.js';
import type { CallOperation, LlmCall } from '../runtime/calls/llm-call.js';
import type { GuardRepeat, Operation } from '../runtime/operation.js';
import { GuardRetry } from '../runtime/guard-retry.js';
import type { GuardWatch, HookWatch, Body } from '../runtime/ports.js';
import { isSecret, SECRET, type SecretRegistry } from '../runtime/secrets/secret-registry.js';
import { textOf } from '../values/text.js';
import { metadataOf, type MeasuredCall, type Value } from '../values/value.js';
import { callOrReuse } from './cache-stage.js';
import { sitesOf, type CacheableCall, type Lookup } from './cacheable-call.js';
import { decidingOnce, guarded, guardsOf, withCarried } from './guards/guarded.js';
import { isRequestedAgain, repeated } from './guards/repeats.js';
import { addExecution } from './measured-result.js';
import { performEffect } from './perform-effect.js';

/** An operation whose body alone makes its result. */
type PlainOperation = Operation & { readonly call?: undefined; readonly llm?: undefined };

/** Performs an operation below the frame's own, and returns its result as the after-hooks left it. */
export async function perform<R extends Outcome>(frame: Frame, operation: PlainOperation, body: Body<R>): Promise<R | Value>;
export async function perform(frame: Frame, operation: CallOperation, body: Body): Promise<Outcome>;
export async function perform(frame: Frame, given: CallOperation, body: Body): Promise<Outcome> {
  const { recorder, secrets } = frame.run;
  const operation = frame.guards && !given.guards ? { ...given, guards: frame.guards } : given;
  const node = nodeOf(frame.op, operation);
  const inside = enter(frame, operation, node);
  const watches = watchesOf(inside, operation);
  const hasSecret = operation.labels.includes(SECRET) || operation.inputs.some(isSecret) || operation.path?.some(isSecret) === true;
  if (hasSecret) operation.inputs.forEach((input) => secrets.add(input));
  const { loops } = recorder;
  const isWatched = loops !== undefined && (operation.total !== undefined || operation.index !== undefined);
  if (!recorder.on && !isWatched && isPlain(operation, watches)) return plainly(inside, operation, body);
  if (isWatched && operation.total !== undefined) loops.began(node, operation.total);
  if (recorder.on) recorder.post(started(operation, node, hasSecret || frame.secret === true, secrets));
  const progress: Progress = { outcome: 'ok' };
  try {
    const result = await (isPlain(operation, watches)
      ? plainly(inside, operation, body)
      : stages(inside, operation, watches, body, progress));
    if (!(result instanceof Signal) && isSecret(result)) secrets.add(result);
    return result;
  } catch (error) {
    if (hasSecret || frame.secret) secrets.taint(error);
    progress.outcome = error instanceof Denial || error instanceof GuardRetry ? 'denied' : 'failed';
    progress.message = secrets.messageOf(error);
    throw error;
  } finally {
    if (isWatched) loops[operation.total === undefined ? 'iterated' : 'ended'](operation.total === undefined ? frame.op : node);
    if (recorder.on) {
      const { outcome, message } = progress;
      recorder.post({ type: 'op.finished', op: node.path, outcome, ...(message === undefined ? {} : { message }) });
    }
  }
}

function nodeOf(op: OpNode, { segment, index, ordinal }: Operation): OpNode {
  if (index !== undefined) return op.at(index);
  return ordinal === undefined ? op.child(segment) : op.nth(segment, ordinal);
}

interface Progress {
  outcome: 'ok' | 'reused' | 'denied' | 'failed';
  message?: string;
}

interface Watches {
  readonly hooks?: HookWatch | undefined;
  readonly guards?: GuardWatch | undefined;
}

const UNWATCHED: Watches = {};

/** Returns the hooks and guards that are registered when the operation starts. instrumentation.md 7 says where they don't act. */
function watchesOf(frame: Frame, operation: Operation): Watches {
  const { interceptors } = frame.run;
  if (!interceptors.active || frame.context.suppress === 'all') return UNWATCHED;
  const isHooked = frame.context.suppress === 'nothing' && (!operation.repeat || operation.repeat.isHooked === true);
  return { hooks: isHooked ? interceptors.hooks.watch(operation) : undefined, guards: guardsOf(frame, operation) };
}

/** PERFORM-3 */
function isPlain({ llm }: CallOperation, { hooks, guards }: Watches): boolean {
  return !llm && !hooks && !guards;
}

/** The function's own denied branch also handles the denials of the calls in its body. */
function plainly(frame: Frame, operation: CallOperation, body: Body): Promise<Outcome> {
  return operation.call?.onDenied ? handled(frame, operation, () => body(frame, operation.inputs)) : body(frame, operation.inputs);
}

async function stages(
  outer: Frame,
  operation: CallOperation,
  { hooks, guards: watching }: Watches,
  body: Body,
  progress: Progress,
): Promise<Outcome> {
  let guards = watching && operation.llm && outer.run.cache.offers ? decidingOnce(watching) : watching;
  const loadsGuards = operation.llm?.loadsGuards === true;
  const sight: CallSight | undefined = operation.llm && (hooks || guards || loadsGuards) ? {} : undefined;
  if (operation.llm && outer.attempt) outer.attempt.hadCalls = true;
  const frame = sight ? { ...outer, context: { ...outer.context, call: sight } } : outer;
  const inputs = hooks ? await hooks.before(frame) : operation.inputs;
  const received = inputs === operation.inputs ? operation : { ...operation, inputs, pieces: undefined };
  const { llm } = received;
  let seen = frame;
  /** Those of a module that was loaded for this very call hold as well. */
  const guardsNow = (): GuardWatch | undefined => (guards ??= loadsGuards ? guardsOf(frame, received) : undefined);
  /** The denial of the execution that an after-guard requested. */
  let laterDenial: Denial | undefined;
  const denied = (denial: Denial): void => void (laterDenial = denial);
  const execute = (inner: Frame, own: Body): Promise<Outcome> => {
    seen = inner;
    const current = guardsNow();
    if (!current) return plainly(inner, operation.allowed ? { ...received, inputs: operation.allowed } : received, own);
    return handled(inner, received, () =>
      guarded(current, inner, received, own).catch((error: unknown) =>
        executeAgain(error, inner, received, body, { denied, first: sight?.attempt?.() }),
      ),
    );
  };
  try {
    let result: Outcome;
    if (llm) {
      const first = guards;
      const ahead = first && ((lookup: Lookup) => first.before(afterLookup(frame, lookup), received));
      const isJudged = guards || loadsGuards ? () => guardsNow()?.judges(received) === true : undefined;
      const call = cacheableCall(frame, received, llm, { sight, guardsBefore: ahead, isJudged });
      const finding = callOrReuse(call, (lookup, own, around) => execute(afterLookup(frame, lookup), around(own ?? body)));
      const found = finding instanceof Promise ? await finding : finding;
      result = found.result;
      if (found.isFailed) {
        progress.outcome = 'failed';
        return result; // after-hooks see results only (calls.md 17)
      }
      if (found.lookup.hit) {
        progress.outcome = 'reused';
        if (sight) sight.view = () => ({ outcome: 'reused', attempts: 0, measured: metadataOf(valueIn(found.result))?.measured?.() });
        if (hooks) seen = afterLookup(frame, found.lookup);
      }
    } else {
      result = await execute(frame, body);
    }
    return hooks ? await hooked(hooks, seen, received, result, laterDenial ?? guards?.denial) : result;
  } catch (error) {
    // A denial from deeper inside is a failure like others.
    if (error instanceof Denial && (error === guards?.denial || error === laterDenial)) {
      if (sight) sight.isDenied = true;
      await endDenied(error, seen, received, hooks);
    }
    operation.repeat?.withoutResult?.(sight?.view?.().measured);
    throw error;
  }
}

/** Executes the operation once more where an after-guard requested that, until a result is accepted; throws every other error. */
async function executeAgain(
  error: unknown,
  frame: Frame,
  operation: CallOperation,
  body: Body,
  further: Pick<GuardRepeat, 'denied' | 'first'>,
): Promise<Outcome> {
  if (!isRequestedAgain(error) || !operation.call || operation.repeat) throw error;
  let used: MeasuredCall = {};
  const add = (execution: MeasuredCall | undefined): void => void (used = addExecution(used, execution));
  const repeat = { ...further, withoutResult: add };
  try {
    const accepted = await repeated(error, frame, operation, (numbered, next) => perform(numbered, next, body), repeat);
    add(metadataOf(valueIn(accepted))?.measured?.());
    return accepted;
  } finally {
    frame.run.repeatedInside.set(frame.op, used);
  }
}

/** A hook sees a denial of its operation but can't lift it. */
async function endDenied(denial: Denial, frame: Frame, operation: CallOperation, hooks: HookWatch | undefined): Promise<void> {
  operation.repeat?.denied(denial);
  await hooks?.after(frame, operation, { output: denialObject(denial.facts), isReplaceable: false, denial: { denial, handled: false } });
}

function cacheableCall(
  frame: Frame,
  operation: Operation,
  llm: LlmCall,
  { sight, guardsBefore, isJudged }: Pick<CacheableCall, 'sight' | 'guardsBefore' | 'isJudged'>,
): CacheableCall {
  const { run, op, secret, context, attempt, aside } = frame;
  const restore: CacheableCall['restore'] = (file) => performEffect(frame, 'file.restore', file);
  return {
    run,
    sight,
    op,
    operation,
    llm,
    secret: secret === true,
    suppress: context.suppress,
    loop: context.for,
    around: attempt,
    countsIn: operation.repeat?.first ?? attempt ?? aside,
    guardsBefore,
    isJudged,
    restore,
  };
}

function afterLookup(frame: Frame, lookup: Lookup): Frame {
  return { ...frame, context: { ...frame.context, checkpoint: lookup } };
}

async function hooked(hooks: HookWatch, frame: Frame, received: Operation, result: Outcome, denial: Denial | undefined): Promise<Outcome> {
  const handledDenial = denial ? { denial: { denial, handled: true } } : {};
  return withCarried(result, (output, isReplaceable) => hooks.after(frame, received, { output, isReplaceable, ...handledDenial }));
}

/** Passes a denial to the function's own `denied` branch, when it has one. */
async function handled(frame: Frame, operation: CallOperation, body: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await body();
  } catch (error) {
    const onDenied = operation.call?.onDenied;
    if (!(error instanceof Denial) || !onDenied) throw error;
    frame.run.deniedInside.add(frame.op);
    return onDenied(frame, operation.inputs, error);
  }
}

/** Makes the frame inside an operation. Only calls change `@mx.op`. */
function enter(frame: Frame, operation: Operation, op: OpNode): Frame {
  return operation.call ? { ...frame, op, context: { ...frame.context, op: operation } } : { ...frame, op };
}

const ITEM_UNITS = 256;

function started(
  operation: Operation,
  node: OpNode,
  hasSecret: boolean,
  secrets: SecretRegistry,
): { type: 'op.started' } & Parameters<Frame['run']['recorder']['post']>[0] {
  const { kind, name, group, labels, llm, total, index, inputs } = operation;
  return {
    type: 'op.started',
    op: node.path,
    kind,
    ...(name === null ? {} : { name }),
    ...(group === undefined ? {} : { group }),
    ...(llm ? {} : sitesOf(operation)), // the events of an llm call have them
    ...(labels.length === 0 ? {} : { labels }),
    ...(index === undefined || kind !== 'for:iteration' || hasSecret ? {} : { item: itemText(inputs[0], secrets) }),
    ...(total === undefined ? {} : { total }),
  };
}

/** Redacts before it cuts: of a secret that is cut first, a part would be left. */
function itemText(item: Value, secrets: SecretRegistry): string {
  const text = textOf(item);
  return text.length > ITEM_UNITS ? secrets.redact(text).slice(0, ITEM_UNITS) : text;
}
