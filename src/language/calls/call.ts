/** Calls a function of the script, a built-in function or a function of Node. control.md 4 and 6, checkpoint-resume.md 4. */
import type { Expression, Reference, When } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import type { Body, CallDetails } from '../../runtime/ports.js';
import type { CallOperation } from '../../runtime/calls/llm-call.js';
import { denialContext, type Denial } from '../../runtime/denial.js';
import { guardStage } from '../../operation/guards/guarded.js';
import { perform } from '../../operation/perform.js';
import { Callable } from '../../values/kinds/callable.js';
import { HostFunction } from '../../values/kinds/host-function.js';
import { valueOfText } from '../../values/formats/json-text.js';
import { partOf } from '../../values/failures.js';
import { Annotated, dataOf, flow, union, type Value } from '../../values/value.js';
import { BuiltIn } from '../expressions/built-ins.js';
import { callHost } from './host-functions.js';
import { Return, Signal, type Completion, type Outcome } from '../../runtime/completion.js';
import { callOutcome, outcomeOf, renderText } from '../../runtime/evaluator-ports.js';
import { GuardTrail } from '../../runtime/guard-trail.js';
import { locationOf, rise } from '../../runtime/errors.js';
import { Executable } from '../../runtime/definitions/executable.js';
import type { CallStack, Frame } from '../../runtime/frame.js';
import { siteOf } from '../../runtime/position.js';
import { renderTemplateFile } from '../expressions/template-file.js';
import { decide } from '../statements/when.js';
import { executeBlockWith, withApplied } from './with-options.js';
import { withCallersNames } from './missing-arguments.js';
import { functionFrame } from './function-frame.js';
import { llmCall } from './llm-function.js';

/** Returns the result of a call, or the control word (`done`, `continue`, `retry`) that its body ended with. */
export function call(callee: Callable, args: readonly Value[], frame: Frame, details: CallDetails): Promise<Outcome> {
  if (callee instanceof Executable) return callExecutable(callee, args, frame, details);
  if (callee instanceof BuiltIn) return callBuiltIn(callee, args, frame);
  if (callee instanceof HostFunction) return callHost(callee, args, locationOf(frame.module, details.at));
  throw new Error(`a function of an unknown kind: ${callee.name}`);
}

async function callBuiltIn(callee: BuiltIn, args: readonly Value[], { run: { failures } }: Frame): Promise<Value> {
  const result = await callee.apply(args[0], args.slice(1));
  return failures.isEmpty || ABOUT_VALUES.has(callee.name) ? result : failures.carry(result, args);
}

/** Built-in functions whose result has nothing of the value in it. */
const ABOUT_VALUES: ReadonlySet<string> = new Set(['typeof', 'typeInfo', 'TYPEOF', 'TYPEINFO']);

async function callExecutable(executable: Executable, given: readonly Value[], frame: Frame, details: CallDetails): Promise<Outcome> {
  const args = withCallersNames(executable, given, frame, details.at);
  const stack = enterFunction(executable, frame, details.at);
  // A function that calls itself twice soon makes 2^64 calls: timers and signals get their chance between them.
  const pause = executable.isRecursive ? frame.run.cooperativeYield.step(frame.deadline) : undefined;
  if (pause) await pause;
  const body: Body = (inner, inputs) => runBody(executable, inputs, { ...inner, stack }, details);
  const labels = details.labels ? union(details.labels, executable.labels) : executable.labels;
  const { deniedBody, code } = executable;
  const name = details.called.at(-1) ?? executable.name;
  // V8 sets a member behind a spread, and makes a literal in a literal, by calling into its runtime. Each call makes these.
  const operationIn = (inner: Frame, inputs: readonly Value[]): CallOperation => {
    const called = details.called.length > 1 ? [name, details.called.join('.')] : [name];
    const call: CallOperation['call'] = {
      declared: executable.name,
      called,
      params: executable.params,
      language: code?.language,
      site: () => siteOf(frame.module, details.at),
      declaredAt: () => siteOf(executable.module, executable.node.at),
      repeatable: details.repeatable ?? false,
      onDenied:
        deniedBody && (async (denied, received, denial) => runDenied(executable, deniedBody, received, { ...denied, stack }, denial)),
    };
    const llm = labels.includes('llm') ? llmCall(executable, labels, inner, stack, details) : undefined;
    return { kind: 'exe', segment: executable.name, name, labels, inputs, call, llm, allowed: details.guarded?.inputs };
  };
  try {
    if (details.isStage) return await performStage(frame, args, operationIn, body);
    return await perform(frame, operationIn(frame, args), body);
  } catch (error) {
    throw rise(error, frame.module, details.at, `@${name}`);
  }
}

/** Calls the function of a pipeline's stage, between the guards of the stage. */
async function performStage(
  frame: Frame,
  args: readonly Value[],
  operationIn: (frame: Frame, inputs: readonly Value[]) => CallOperation,
  body: Body,
): Promise<Outcome> {
  const call = operationIn(frame, args);
  if (!frame.run.interceptors.active) return perform(frame, call, body);
  const { llm: _, ...facts } = call;
  const about = { ...facts, kind: 'pipeline-stage', subtype: call.segment };
  const trail = frame.context.stage?.trailFor?.(about) ?? new GuardTrail();
  const stage: CallOperation = { ...about, trail, ...(frame.guards && { guards: frame.guards }) };
  return guardStage(frame, stage, (inner, inputs) => perform(inner, { ...operationIn(inner, inputs), trail }, body));
}

/** Refuses a function without the label `recursive` that is called again while its body runs, and nesting above the limit. control.md 6. */
function enterFunction(executable: Executable, frame: Frame, at: number): CallStack {
  let depth = 0;
  for (let call = frame.stack; call; call = call.parent) if (call.executable === executable) depth++;
  if (depth > 0 && !executable.isRecursive) {
    throw new MlldError('CIRCULAR_CALL', `Circular reference: @${executable.name} is called again while it runs`, {
      location: locationOf(frame.module, at),
      hint: `declare it with the label: exe recursive @${executable.name}(…)`,
    });
  }
  const limit = frame.run.settings.recursionDepth;
  if (depth >= limit) {
    throw new MlldError('RECURSION_DEPTH', `@${executable.name} is nested more than ${limit} times; MLLD_RECURSION_DEPTH sets the limit`, {
      location: locationOf(frame.module, at),
    });
  }
  return { executable, parent: frame.stack };
}

async function runBody(executable: Executable, inputs: readonly Value[], frame: Frame, details: CallDetails): Promise<Outcome> {
  const inner = functionFrame(executable, inputs, frame, details.ambient);
  const result = asPrinted(executable.body, asStructure(await bodyOutcome(executable.body, inputs, inner)));
  const { labels, sources } = executable;
  if (!(result instanceof Signal)) return flow(result, inputs, labels, sources);
  return result.hasValue ? new Signal(result.word, flow(result.value, inputs, labels, sources), true) : result;
}

/** Turns a text that is a JSON object or array into that value, which keeps the text as its text view. values.md 11.2. */
function asStructure(result: Outcome): Outcome {
  const text = result instanceof Signal ? undefined : dataOf(result);
  if (typeof text !== 'string') return result;
  const value = valueOfText(text);
  return value === text ? result : partOf(flow(value, [result as Value]), result as Value);
}

/** Data that the body printed has the text view of its data; the text itself is for `run`. values.md 15.3. */
function asPrinted(body: Expression, result: Outcome): Outcome {
  if (body.kind === 'with' || body.kind === 'stream') return asPrinted(body.value, result);
  if (body.kind !== 'code' || !(result instanceof Annotated) || result.text === undefined) return result;
  return result.withMetadata({ ...result.metadata, isPrinted: true });
}

function bodyOutcome(body: Expression, inputs: readonly Value[], frame: Frame): Promise<Outcome> {
  switch (body.kind) {
    case 'template':
      return renderText(body.parts, frame);
    case 'template-file':
      return renderTemplateFile(frame);
    case 'block':
    case 'with':
    case 'when':
    case 'reference':
      return composedOutcome(body, inputs, frame);
    default:
      return outcomeOf(body, frame);
  }
}

type Composed = Extract<Expression, { kind: 'block' | 'with' | 'when' | 'reference' }>;

async function composedOutcome(body: Composed, inputs: readonly Value[], frame: Frame): Promise<Outcome> {
  switch (body.kind) {
    case 'block':
      return outcomeOfBlock(await frame.execute(body.statements, frame));
    case 'with': {
      if (body.value.kind === 'block') return outcomeOfBlock(await executeBlockWith(body.value.statements, body.options, frame));
      const { value, frame: applied } = await withApplied(body, frame);
      return bodyOutcome(value, inputs, applied);
    }
    case 'when': {
      const decision = await decide(body, frame, 'value');
      if (decision.kind === 'nothing') return null;
      return decision.kind === 'acted' && decision.outcome === undefined ? '' : decision.outcome;
    }
    case 'reference':
      return aliased(await outcomeOf(body, frame), body, inputs, frame);
  }
}

function outcomeOfBlock(completion: Completion): Outcome {
  return completion instanceof Return ? completion.value : (completion ?? '');
}

/** Calls the other function of `exe @alias = @other` with the arguments that the alias received. */
async function aliased(result: Outcome, body: Reference, inputs: readonly Value[], frame: Frame): Promise<Outcome> {
  const callee = result instanceof Signal ? undefined : dataOf(result);
  return callee instanceof Callable ? callOutcome(callee, inputs, frame, { at: body.at, called: [body.name] }) : result;
}

async function runDenied(executable: Executable, body: When, inputs: readonly Value[], frame: Frame, denial: Denial): Promise<Value> {
  const { facts } = denial;
  frame.run.warn(`[Guard Warning] ${facts.reason}`, `denied @${executable.name}`);
  const context = { ...frame.context, denied: true, guard: denialContext(facts), args: facts.args };
  const inner = functionFrame(executable, inputs, { ...frame, context });
  const decision = await decide(body, inner, 'value');
  // An effect has no value here, so that the text of the branch appears once, however the denied call is written.
  const result = decision.kind === 'nothing' ? null : decision.kind === 'acted' && decision.outcome === undefined ? '' : decision.outcome;
  return result instanceof Signal ? result.value : flow(result, inputs, executable.labels, executable.sources);
}
