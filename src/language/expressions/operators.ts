/** Evaluates operators. Those that always need both sides are in `values/operators.ts`. values.md 9. */
import type { Binary, Denied, Expression, Subject, Ternary, Unary } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { binary } from '../../values/operators.js';
import { isTruthy } from '../../values/truth.js';
import { annotate, dataOf, flow, type Value } from '../../values/value.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { evaluateReference } from './reference.js';

/** Operators whose result has the failures of calls in it that their operands have. calls.md 5.3. */
const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%']);

export async function evaluateUnary(node: Unary, frame: Frame): Promise<Value> {
  const value = await lenient(node.operand, frame);
  return flow(annotate(!isTruthy(value), {}), [value]);
}

export async function evaluateBinary(node: Binary, frame: Frame): Promise<Value> {
  const left = await lenient(node.left, frame);
  switch (node.operator) {
    case '&&':
      return isTruthy(left) ? operand(node.right, frame) : (left ?? null);
    case '||':
      return isTruthy(left) ? left : operand(node.right, frame);
    case '??':
      return left === undefined || dataOf(left) === null ? operand(node.right, frame) : left;
    default: {
      const right = await lenient(node.right, frame);
      try {
        const result = binary(node.operator, left, right);
        const { failures } = frame.run;
        return failures.isEmpty || !ARITHMETIC.has(node.operator) ? result : failures.carryAll(result, [left, right]);
      } catch (error) {
        if (error instanceof MlldError) error.location ??= locationOf(frame.module, node.at);
        throw error;
      }
    }
  }
}

/** Evaluates the operand that becomes the result; an undefined name is null here. */
async function operand(node: Expression, frame: Frame): Promise<Value> {
  return (await lenient(node, frame)) ?? null;
}

export async function evaluateTernary(node: Ternary, frame: Frame): Promise<Value> {
  const branch = isTruthy(await lenient(node.condition, frame)) ? node.then : node.otherwise;
  return branch.kind === 'reference' ? evaluateReference(branch, frame) : frame.evaluate(branch, frame);
}

export async function evaluateSubject(_node: Subject, frame: Frame): Promise<Value> {
  return frame.subject?.value;
}

export async function evaluateDenied(_node: Denied, frame: Frame): Promise<Value> {
  return frame.context.denied;
}
