/** Executes `show`, `log`, `run`, and calls on a line of their own. values.md 15, control.md 8, world.md 3 and 14.4. */
import type { CallStatement, Expression, Log, Prose, Reference, Run, Show } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { perform } from '../../operation/perform.js';
import { Callable } from '../../values/kinds/callable.js';
import { showText } from '../../values/show.js';
import { compactText, textOf } from '../../values/text.js';
import { Annotated, dataOf, type Value } from '../../values/value.js';
import type { Completion } from '../../runtime/completion.js';
import { codeIn, prepareCode } from '../code/inline-code.js';
import { effectInput, type EffectInput } from '../expressions/effect-input.js';
import { withoutGuards } from '../calls/with-options.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { foreachLines } from '../loops/foreach.js';
import type { Frame } from '../../runtime/frame.js';
import { locationOf, undefinedVariable } from '../../runtime/errors.js';
import { writtenText } from '../files/written-text.js';

export async function executeProse(node: Prose, frame: Frame): Promise<Completion> {
  await frame.run.document.prose(node.text, frame);
  return undefined;
}

export async function executeShow(node: Show, frame: Frame): Promise<Completion> {
  await performShow(node, frame);
  return undefined;
}

/** Returns the value that was shown. */
export async function performShow(node: Show, frame: Frame): Promise<Value> {
  const { value, frame: guarded } = await withoutGuards(node.value, frame);
  const lines = value.kind === 'foreach' || value.kind === 'with' ? await foreachLines(value, guarded) : undefined;
  const input = lines === undefined ? await effectInput(value, guarded, shown) : { value: lines };
  return showValue(input.value, guarded, node.labels, input.pieces);
}

/** Evaluates the operand. An undefined name is an error here, although it is left as written inside a quoted text. */
async function shown(node: Expression, frame: Frame): Promise<Value> {
  if (node.kind !== 'reference') return frame.evaluate(node, frame);
  const value = await lenient(node, frame);
  if (value === undefined) throw undefinedVariable(node.name, frame.module, node.at, frame.scope);
  return value;
}

/** Shows a value, as the operation `show`. */
export async function showValue(
  value: Value,
  frame: Frame,
  labels: readonly string[] = [],
  pieces?: EffectInput['pieces'],
): Promise<Value> {
  return effect('show', { value, ...(pieces && { pieces }) }, frame, showEmitted, labels);
}

/** Shows what an action evaluates to. */
async function showOperand(node: Expression, frame: Frame): Promise<Value> {
  return effect('show', await effectInput(node, frame), frame, showEmitted);
}

function showEmitted(emitted: Value, frame: Frame): Promise<void> {
  return frame.run.document.show(showText(emitted), emitted, frame);
}

export async function executeLog(node: Log, frame: Frame): Promise<Completion> {
  await logValue(await effectInput(node.value, frame, shown), frame);
  return undefined;
}

/** Writes `log x` as `output x to stderr` does. world.md 14.4. */
export async function logValue(input: EffectInput, frame: Frame): Promise<Value> {
  return effect('log', input, frame, async (emitted, inner) =>
    frame.run.document.write('stderr', `${writtenText(emitted)}\n`, emitted, inner),
  );
}

async function effect(
  kind: 'show' | 'log' | 'stream',
  { value, pieces }: EffectInput,
  frame: Frame,
  emit: (value: Value, frame: Frame) => Promise<void>,
  labels: readonly string[] = [],
): Promise<Value> {
  const operation = { kind, segment: kind, name: null, labels, inputs: [value], ...(pieces && { pieces }) };
  return perform(frame, operation, async (inner, [input]) => {
    await emit(input, inner);
    return input;
  });
}

/** Executes `run` and shows the text, unless it is empty; a bare command of a block shows nothing. */
export async function executeRun(node: Run, frame: Frame): Promise<Completion> {
  await performRun(node, frame, node.isBare ? 'captured' : 'shown');
  return undefined;
}

/** Returns the result. A command is interpolated once, before the operation, so that hooks see it. */
export async function performRun(node: Run, outer: Frame, use: 'shown' | 'captured'): Promise<Value> {
  const { value: written, frame } = await withoutGuards(node.value, outer);
  const operand = await calledOperand(written, frame);
  const code = codeIn(operand);
  const prepared = code && (await prepareCode(code, frame));
  const { inputs = [], path = [], subtype } = prepared ?? {};
  const operation = { kind: 'run', segment: 'run', name: null, labels: [], inputs, path, ...(subtype !== undefined && { subtype }) };
  return perform(frame, operation, async (inner, allowed) => {
    const quiet: Frame = { ...inner, quietCode: true };
    const value = await inner.evaluate(operand, prepared ? prepared.allowed(quiet, allowed) : quiet);
    if (use === 'shown') await showRunText(value, inner, isCode(operand));
    return value;
  });
}

/** Makes the operand `@f` the call `@f()`, also where it is the source of a pipeline. Throws NOT_A_FUNCTION for another value. */
async function calledOperand(operand: Expression, frame: Frame): Promise<Expression> {
  if (operand.kind === 'with') return { ...operand, value: await calledOperand(operand.value, frame) };
  const reference = operand.kind === 'pipeline' ? operand.source : operand;
  if (reference.kind !== 'reference' || isCallOf(reference)) return operand;
  const value = await lenient(reference, frame);
  if (dataOf(value) instanceof Callable) {
    const call: Reference = { ...reference, steps: [...reference.steps, { kind: 'apply', args: [], at: reference.at }] };
    return operand.kind === 'pipeline' ? { ...operand, source: call } : call;
  }
  if (operand.kind === 'pipeline' || value === undefined) return operand;
  throw new MlldError('NOT_A_FUNCTION', `run @${reference.name}: it is not a function`, {
    location: locationOf(frame.module, reference.at),
    hint: `to show a value, write: show @${reference.name}`,
  });
}

function isCallOf({ steps }: Reference): boolean {
  return steps.some((step) => step.kind === 'apply' || step.kind === 'method');
}

function isCode(operand: Expression): boolean {
  return operand.kind === 'code' || ((operand.kind === 'stream' || operand.kind === 'with') && isCode(operand.value));
}

/** Shows what a command or code printed, letter by letter; `isRaw`: the value is its result itself. Other data is compact JSON. */
async function showRunText(value: Value, frame: Frame, isRaw = false): Promise<void> {
  const data = dataOf(value);
  const printed = value instanceof Annotated && (isRaw || value.metadata.isPrinted) ? value.text : undefined;
  const text = printed ?? (typeof data === 'object' && data !== null ? compactText(value) : textOf(value));
  if ((data === null && printed === undefined) || text === '') return;
  await frame.run.document.show(text, value, frame);
}

/** Shows the result of a call at the top level; a call in a block runs for its effects. control.md 8.2. */
export async function executeCall(node: CallStatement, frame: Frame): Promise<Completion> {
  const { value } = node;
  if (value.kind === 'stream') {
    await effect('stream', { value: await frame.evaluate(value, frame) }, frame, showRunText);
    return undefined;
  }
  if (frame.within === 'script' && !endsInEffect(value)) return callStatement(value, frame);
  await frame.evaluate(value, frame);
  return undefined;
}

/** True for a pipeline whose last stage is an effect: what it does with the value is all that the statement is for. */
function endsInEffect(value: Expression): boolean {
  if (value.kind === 'with' || value.kind === 'stream') return endsInEffect(value.value);
  return value.kind === 'pipeline' && value.stages.at(-1)?.kind === 'effect-stage';
}

/** Shows the value of an arm or an iteration at the top level: the result of a call, or another value, once. control.md 8.2 and 9.5. */
export async function showAction(action: Expression, frame: Frame): Promise<Completion> {
  if (action.kind === 'reference') return callStatement(action, frame);
  if (action.kind === 'stream') return executeCall({ kind: 'call', at: action.at, value: action }, frame);
  if (endsInEffect(action)) await frame.evaluate(action, frame);
  else await showOperand(action, frame);
  return undefined;
}

/** Executes `@f(x)` as `run @f(x)`, and shows any other value. */
async function callStatement(node: Expression | Reference, frame: Frame): Promise<Completion> {
  const isCall = node.kind !== 'reference' || isCallOf(node);
  if (!isCall) {
    await showValue(await frame.evaluate(node, frame), frame);
    return undefined;
  }
  await perform(frame, { kind: 'run', segment: 'run', name: null, labels: [], inputs: [] }, async (inner) => {
    const value = await inner.evaluate(node, inner);
    await showRunText(value, inner);
    return value;
  });
  return undefined;
}
