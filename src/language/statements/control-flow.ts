/** Executes control words, `=>` and `bail`. control.md 16 to 18, instrumentation.md 3.3 for labels on a return. */
import type { Bail as BailNode, Control, Expression, Return as ReturnNode } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { compactText, textOf } from '../../values/text.js';
import { dataOf, flow, type Value } from '../../values/value.js';
import { Return, Signal, type Completion, type Outcome } from '../../runtime/completion.js';
import { outcomeOf } from '../../runtime/evaluator-ports.js';
import { Bail, locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { evaluateReference } from '../expressions/reference.js';
import { soleReference } from '../expressions/template.js';
import { boundBlockOutcome } from './block.js';

/** Evaluates the value with the locals of its block. `pass` is the value null. */
export async function evaluateControl(node: Control, frame: Frame): Promise<Outcome> {
  if (node.word === 'pass') return null;
  const value = node.value ? await bound(node.value, frame) : null;
  return new Signal(node.word, value, node.value !== undefined);
}

export async function executeControl(node: Control, frame: Frame): Promise<Completion> {
  if (node.word === 'retry' && !frame.context.stage?.stage) {
    throw new MlldError('RETRY', '`retry` works only in a stage of a pipeline', {
      location: locationOf(frame.module, node.at),
      hint: frame.within === 'loop' ? 'to begin the next iteration, write `continue`' : 'make it a stage: @source() | @check',
    });
  }
  if (node.isReturn && !frame.context.for) {
    throw new MlldError('SKIP', '`=> skip` leaves an element out of a `for`, and there is none here', {
      location: locationOf(frame.module, node.at),
      hint: 'to return nothing from a function, write `=> null`',
    });
  }
  const outcome = await evaluateControl(node, frame);
  return outcome instanceof Signal ? outcome : undefined;
}

export async function executeReturn(node: ReturnNode, frame: Frame): Promise<Completion> {
  if (!node.value) return new Return(null, false);
  const outcome = await boundOutcome(node.value, frame);
  if (outcome instanceof Signal) return outcome;
  return new Return(node.labels.length > 0 ? flow(outcome, [], node.labels) : outcome);
}

/** Evaluates a value to bind or return. An arm of a `when` may return a control word instead, for the loop or pipeline around it. */
export async function boundOutcome(node: Expression, frame: Frame): Promise<Outcome> {
  if (node.kind === 'when') return (await outcomeOf(node, frame)) ?? null;
  return node.kind === 'block' ? boundBlockOutcome(node, frame) : bound(node, frame);
}

/** Evaluates a value that is bound or returned: a template that is one reference is the referenced value itself. values.md 5.3. */
export async function bound(node: Expression, frame: Frame): Promise<Value> {
  const reference = node.kind === 'template' ? soleReference(node) : undefined;
  return reference ? evaluateReference(reference, frame) : frame.evaluate(node, frame);
}

export async function executeBail(node: BailNode, frame: Frame): Promise<never> {
  const value = node.message && (await frame.evaluate(node.message, frame));
  const data = dataOf(value);
  const text =
    value === undefined || data === '' ? 'the script ended itself with bail' : typeof data === 'string' ? data : compactOf(value);
  throw new Bail(text, locationOf(frame.module, node.at));
}

function compactOf(value: Value): string {
  return typeof dataOf(value) === 'object' ? compactText(value) : textOf(value);
}
