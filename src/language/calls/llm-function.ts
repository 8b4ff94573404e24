/**
 * Tells the stages around a call of an `llm` function what they ask for: what identifies the call, its definition, its options, what it
 * writes. Each is worked out when it is asked for, because most calls need little of it. checkpoint-resume.md 4.
 */
import type { ApplyStep, MethodStep, Reference } from '../../../grammar/ast.js';
import type { Json } from '../../../journal/event.js';
import { definitionOf, withParts, withPassedFunctions } from '../../operation/fingerprint.js';
import type { CallOptions } from '../../calls/options.js';
import type { Awaitable } from '../../runtime/awaitable.js';
import type { Body, CallDetails } from '../../runtime/ports.js';
import { callArguments } from '../../runtime/calls/call-key.js';
import type { FormedCall, LlmCall } from '../../runtime/calls/llm-call.js';
import { withProblem } from '../../operation/replies/repair-inputs.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import { Callable } from '../../values/kinds/callable.js';
import { dataOf, flow, type Value } from '../../values/value.js';
import { evaluateArguments } from './arguments.js';
import { stepsToCallee } from './callee.js';
import { callValue } from '../../runtime/evaluator-ports.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import type { Executable } from '../../runtime/definitions/executable.js';
import { functionsIn } from '../../runtime/definitions/uses.js';
import type { CallStack, Frame } from '../../runtime/frame.js';
import { callOptions, defaultLane, hasCallOptions } from './call-options.js';
import { commandFolder } from '../code/command-folder.js';
import { writtenPaths } from './declared-outputs.js';
import { hasWrittenOptions } from './written-options.js';
import { mentionsHint, mentionsProblem } from './mentions.js';
import { functionFrame } from './function-frame.js';

export function llmCall(executable: Executable, labels: readonly string[], frame: Frame, stack: CallStack, details: CallDetails): LlmCall {
  const { forwarded, code, keyOption, writesOption } = executable;
  const { guarded } = details;
  const { cache, secrets } = frame.run;
  const definition = (inputs: readonly Value[]): Awaitable<Definition> =>
    withPassedFunctions(definitionOf(executable, cache.digest, secrets), inputs, cache.digest, secrets);
  const around = (): Frame => ({ ...frame, stack }); // a copy that few calls need
  const { attempt } = frame.context;
  const formed = (values: readonly Value[]): FormedCall => {
    const hint = keyOption || forwarded ? undefined : hintReadBy(executable, values, frame);
    const request = {
      fn: executable.name,
      args: callArguments(values),
      ...(attempt > 1 && { attempt }),
      ...hintPart(hint),
    };
    return {
      request,
      hasSecret: isSecret(hint) || values.some(isSecret),
    };
  };
  const ownRequest = (inputs: readonly Value[]): Awaitable<FormedCall> =>
    keyOption ? keyValues(executable, inputs, around()).then(formed) : formed(withoutMissing(inputs));
  return {
    request(inputs) {
      const own = ownRequest(inputs);
      if (!forwarded) return own;
      return Promise.resolve(own).then((formed) => forwardedCall(formed, { executable, forwarded, inputs, frame: around(), details }));
    },
    ownRequest,
    definition: guarded ? async (inputs) => withParts(await definition(inputs), guarded.parts) : definition,
    writes: writesOption && (async (inputs) => writtenPaths(writesOption, functionFrame(executable, inputs, around(), details.ambient))),
    folder:
      code?.directory && ((inputs) => commandFolder(code.directory ?? [], functionFrame(executable, inputs, around(), details.ambient))),
    fn: executable.name,
    language: code?.language,
    options: (inputs) =>
      executable.callOptions ?? optionsOf(executable, () => functionFrame(executable, inputs, around(), details.ambient)),
    mentionsProblem: () => mentionsProblem(executable),
    async describe(inputs) {
      const { describeCall } = await import('./describe-call.js');
      return describeCall(executable, inputs, functionFrame(executable, inputs, around(), details.ambient), details);
    },
    isCommand: isCommandBody(executable),
    labels,
    sources: executable.sources,
  };
}

/** Options that are the same for all calls are evaluated once. */
function optionsOf(executable: Executable, frame: () => Frame): Awaitable<CallOptions> {
  if (!hasCallOptions(executable)) return (executable.callOptions = { lane: defaultLane(executable) });
  const evaluated = callOptions(executable, frame());
  return hasWrittenOptions(executable.node) ? evaluated.then((options) => (executable.callOptions = options)) : evaluated;
}

interface Forwarding {
  readonly executable: Executable;
  readonly forwarded: Reference;
  readonly inputs: readonly Value[];
  readonly frame: Frame;
  readonly details: CallDetails;
}

/**
 * Adds the arguments that a wrapper of one call passes on to the identity of the wrapper's call. They are evaluated once, before the
 * lookup; after a miss the body uses the same values.
 */
async function forwardedCall(own: FormedCall, { executable, forwarded, inputs, frame, details }: Forwarding): Promise<FormedCall> {
  const inner = functionFrame(executable, inputs, frame, details.ambient);
  const call = forwarded.steps.at(-1) as MethodStep | ApplyStep;
  const target = dataOf(await frame.evaluate({ ...forwarded, steps: stepsToCallee(forwarded.steps) }, inner));
  if (!(target instanceof Callable)) return own;
  const args = await evaluateArguments(call.args, inner);
  const path = [forwarded.name, ...stepsToCallee(forwarded.steps).flatMap((step) => (step.kind === 'field' ? [step.name] : []))];
  const body: Body = async (entered, received) => {
    const bodyFrame = functionFrame(executable, received, { ...entered, stack: frame.stack }, details.ambient);
    const passed = withProblem(args, entered.attempt, { mentionsProblem: () => mentionsProblem(executable) });
    const value = await callValue(target, passed, bodyFrame, { at: call.at, called: path });
    return flow(value, received, executable.labels, executable.sources);
  };
  const via = { fn: target.name, args: callArguments(withoutMissing(args)) };
  // A hint that the wrapper passes on is among the arguments.
  const hint = executable.keyOption ? undefined : hintReadBy(target, args, frame);
  return {
    request: { ...own.request, via, ...hintPart(hint) },
    body,
    hasSecret: own.hasSecret === true || isSecret(hint) || args.some(isSecret),
  };
}

/** Returns the hint of the retry where the function, or one among its arguments, reads it. */
function hintReadBy(callee: Callable, args: readonly Value[], { context: { stage } }: Frame): Value {
  if (stage?.hint == null) return undefined;
  return [callee, ...args].flatMap(functionsIn).some((each) => mentionsHint(each)) ? stage.hint : undefined;
}

function hintPart(hint: Value): { readonly hint?: Json } {
  return hint === undefined ? {} : { hint: callArguments([hint])[0] as Json };
}

/** Returns the arguments that identify the call: its own, or the values of the option `key`. */
async function keyValues(executable: Executable, inputs: readonly Value[], frame: Frame): Promise<readonly Value[]> {
  const { keyOption } = executable;
  if (!keyOption) return withoutMissing(inputs);
  const chosen = await frame.evaluate(keyOption, functionFrame(executable, inputs, frame));
  const data = dataOf(chosen);
  // Elements take the labels of their list.
  return Array.isArray(data) ? data.map((element: Value) => flow(element ?? null, [chosen])) : [chosen];
}

/** Leaves out the arguments at the end that were not passed: they are no part of the call's identity. */
function withoutMissing(inputs: readonly Value[]): readonly Value[] {
  let length = inputs.length;
  while (length > 0 && inputs[length - 1] === undefined) length--;
  return inputs.slice(0, length).map((input) => input ?? null);
}

/** Returns true for a command and for a wrapper whose one call may be a command. Only there does an exit status decide about reuse. */
function isCommandBody(executable: Executable): boolean {
  const { body } = executable;
  return body.kind === 'code' || body.kind === 'stream' || executable.forwarded !== undefined;
}
