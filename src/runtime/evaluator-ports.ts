/**
 * The ways down into the evaluator. A construct that needs a value, a call or a text goes through the frame and imports no other
 * construct for it, so that the files of the constructs stand side by side; `evaluate.ts` alone knows them all.
 */
import type { CallDetails } from './ports.js';
import type { Action, Expression, Stage, TemplatePart } from '../../grammar/ast.js';
import type { Callable } from '../values/kinds/callable.js';
import type { Value } from '../values/value.js';
import { Signal, type Outcome } from './completion.js';
import type { Frame } from './frame.js';

/** Where an undefined name is tolerated (conditions, operators, text): undefined. */
export function lenient(node: Expression, frame: Frame): Promise<Value> {
  return node.kind === 'reference' ? frame.run.evaluator.lookUp(node, frame) : frame.evaluate(node, frame);
}

/** What a bare name stands for: nothing has to be evaluated, nor waited for. Undefined: it has to be. */
export function boundValue(node: Expression, frame: Frame): Value {
  return node.kind === 'reference' && node.steps.length === 0 ? frame.scope.find(node.name)?.value : undefined;
}

/** The result of a call where `done`, `continue` and `retry` are understood. */
export function callOutcome(callee: Callable, args: readonly Value[], frame: Frame, details: CallDetails): Promise<Outcome> {
  return frame.run.evaluator.call(callee, args, frame, details);
}

/** The result of a call in an expression: control words that nobody waits for are their value. */
export async function callValue(callee: Callable, args: readonly Value[], frame: Frame, details: CallDetails): Promise<Value> {
  const outcome = await callOutcome(callee, args, frame, details);
  return outcome instanceof Signal ? outcome.value : outcome;
}

/** The text of template parts, with the labels of everything that went into it. */
export function renderText(parts: readonly TemplatePart[], frame: Frame): Promise<Value> {
  return frame.run.evaluator.render(parts, frame);
}

/** Sends a value through stages. */
export function runStages(value: Value, stages: readonly Stage[], frame: Frame): Promise<Value> {
  return frame.run.evaluator.stages(value, stages, frame);
}

/** What an action gives in a place that wants a value; undefined from a block that returns nothing and from an effect. */
export function outcomeOf(action: Action, frame: Frame): Promise<Outcome> {
  return frame.run.evaluator.outcome(action, frame);
}
