/**
 * Calls of the evaluator through the frame. A construct that needs a value, a call or a text of another construct uses these and does not
 * import it, so that only `evaluate.ts` imports them all.
 */
import type { Action, Expression, Stage, TemplatePart } from '../../grammar/ast.js';
import type { Callable } from '../values/kinds/callable.js';
import type { Value } from '../values/value.js';
import { Signal, type Outcome } from './completion.js';
import type { Frame } from './frame.js';
import type { CallDetails } from './ports.js';

/** Evaluates where an undefined name is no error (conditions, operators, text): there it is undefined. */
export function lenient(node: Expression, frame: Frame): Promise<Value> {
  return node.kind === 'reference' ? frame.run.evaluator.lookUp(node, frame) : frame.evaluate(node, frame);
}

/** Returns the value of a bare name without evaluation or await; undefined where the expression has to be evaluated. */
export function boundValue(node: Expression, frame: Frame): Value {
  return node.kind === 'reference' && node.steps.length === 0 ? frame.scope.find(node.name)?.value : undefined;
}

/** Calls a function where `done`, `continue` and `retry` have a meaning. */
export function callOutcome(callee: Callable, args: readonly Value[], frame: Frame, details: CallDetails): Promise<Outcome> {
  return frame.run.evaluator.call(callee, args, frame, details);
}

/** Calls a function in an expression: a control word that no construct handles is replaced by its value. */
export function callValue(callee: Callable, args: readonly Value[], frame: Frame, details: CallDetails): Promise<Value> {
  return callOutcome(callee, args, frame, details).then(valueOfCall);
}

function valueOfCall(outcome: Outcome): Value {
  return outcome instanceof Signal ? outcome.value : outcome;
}

/** Returns the text of template parts, with the labels of everything that went into it. */
export function renderText(parts: readonly TemplatePart[], frame: Frame): Promise<Value> {
  return frame.run.evaluator.render(parts, frame);
}

/** Sends a value through stages. */
export function runStages(value: Value, stages: readonly Stage[], frame: Frame): Promise<Value> {
  return frame.run.evaluator.stages(value, stages, frame);
}

/** Evaluates an action where a value is needed; undefined for a block that returns nothing and for an effect. */
export function outcomeOf(action: Action, frame: Frame): Promise<Outcome> {
  return frame.run.evaluator.outcome(action, frame);
}
