/** Evaluates `X with { … }` and `stream X`. control.md 3.1, 20 and 23, instrumentation.md 4.6. */
import type { Expression, Options, Statement, Stream, With } from '../../../grammar/ast.js';
import type { Completion } from '../../runtime/completion.js';
import type { GuardSwitch } from '../../runtime/operation.js';
import { isTruthy } from '../../values/truth.js';
import { textOf } from '../../values/text.js';
import { dataOf, type DataObject, type Value } from '../../values/value.js';
import type { Frame } from '../../runtime/frame.js';
import { frameOfValueBlock, valueOfBlockEnd } from '../statements/block.js';

export async function evaluateWith(node: With, frame: Frame): Promise<Value> {
  const { value: operand, frame: guarded } = await withoutGuards(node, frame);
  if (operand.kind === 'with' && operand.value.kind === 'block') {
    const { value: block, options } = operand;
    return valueOfBlockEnd(await executeBlockWith(block.statements, options, frameOfValueBlock(guarded)), block, guarded);
  }
  const { value, frame: applied } = await optionsApplied(operand, guarded);
  return applied.evaluate(value, applied);
}

/** Takes the clause off an expression: what is left of it, and the frame in which that is evaluated. */
export async function withApplied(node: With, frame: Frame): Promise<{ readonly value: Expression; readonly frame: Frame }> {
  const { value, frame: guarded } = await withoutGuards(node, frame);
  return optionsApplied(value, guarded);
}

async function optionsApplied(value: Expression, frame: Frame): Promise<{ readonly value: Expression; readonly frame: Frame }> {
  if (value.kind !== 'with') return { value, frame };
  return { value: withOptions(value.value, value.options), frame: await streamed(value.options, frame) };
}

/**
 * Executes the block of a function that has options. They may name what the block binds: then they hold from the last of these bindings
 * on.
 */
export async function executeBlockWith(statements: readonly Statement[], options: Options, frame: Frame): Promise<Completion> {
  const named = JSON.stringify(options);
  const binding = statements.findLastIndex(
    (statement) => (statement.kind === 'let' || statement.kind === 'var') && named.includes(`"name":"${statement.name}"`),
  );
  const before = binding < 0 ? undefined : await frame.execute(statements.slice(0, binding + 1), frame);
  return before ?? frame.execute(statements.slice(binding + 1), await streamed(options, frame));
}

async function streamed(options: Options, frame: Frame): Promise<Frame> {
  const streaming = await option(options, 'stream', frame);
  const isStreaming = streaming !== undefined && isTruthy(streaming) && frame.run.settings.streaming;
  return isStreaming ? { ...frame, streaming: true } : frame;
}

/**
 * Takes `with { guards: … }` off an expression, and switches the guards off in the frame. A statement does that before its own operation:
 * then the clause covers the statement and what its operand calls. instrumentation.md 4.6.
 */
export async function withoutGuards(value: Expression, frame: Frame): Promise<{ readonly value: Expression; readonly frame: Frame }> {
  const options = value.kind === 'with' ? value.options : [];
  if (value.kind !== 'with' || !options.some(({ name }) => name === 'guards')) return { value, frame };
  const others = options.filter(({ name }) => name !== 'guards');
  const left = others.length > 0 ? { ...value, options: others } : value.value;
  const guards = await guardSwitch(options, frame);
  if (!guards) return { value: left, frame };
  const { value: operand } = value;
  const what = operand.kind === 'reference' ? `the use of @${operand.name}` : 'this use';
  frame.run.warn(`guards are switched ${'off' in guards ? 'off' : 'by name'} for ${what}`);
  return { value: left, frame: { ...frame, guards } };
}

/** Moves the options `stdin`, `parallel` and `delay` into the node that they are about. */
function withOptions(value: Expression, options: Options): Expression {
  const find = (name: string): Expression | undefined => options.find((candidate) => candidate.name === name)?.value;
  const stdin = find('stdin');
  if (value.kind === 'code' && stdin) return { ...value, stdin };
  if (value.kind === 'pipeline') {
    const cap = find('parallel');
    const pace = find('delay');
    const source = stdin && value.source.kind === 'code' ? { ...value.source, stdin } : value.source;
    if (!cap && !pace) return { ...value, source };
    const limits = { ...(cap ? { cap } : {}), ...(pace ? { pace } : {}) };
    return { ...value, source, stages: value.stages.map((stage) => (stage.kind === 'group-stage' ? { ...stage, limits } : stage)) };
  }
  return value;
}

async function option(options: Options, name: string, frame: Frame): Promise<Value> {
  const found = options.find((candidate) => candidate.name === name);
  return found && frame.evaluate(found.value, frame);
}

async function guardSwitch(options: Options, frame: Frame): Promise<GuardSwitch | undefined> {
  const value = dataOf(await option(options, 'guards', frame));
  if (value === undefined || value === true) return undefined;
  if (value === false) return { off: true };
  const names = (list: Value): string[] => ((dataOf(list) as Value[] | undefined) ?? []).map((name) => textOf(name).replace(/^@/, ''));
  const { only, except } = value as DataObject;
  if (only !== undefined) return { only: names(only) };
  return except === undefined ? undefined : { except: names(except) };
}

/** Shows output while the operand runs; the value is the same. */
export async function evaluateStream(node: Stream, frame: Frame): Promise<Value> {
  return frame.evaluate(node.value, frame.run.settings.streaming ? { ...frame, streaming: true } : frame);
}
