/**
 * Evaluates the operand of an effect. Of a template it also returns the values that were put into it, where a guard of a label may look at
 * each of them. instrumentation.md 4.2.
 */
import type { Expression } from '../../../grammar/ast.js';
import type { Frame } from '../../runtime/frame.js';
import type { TextPiece } from '../../runtime/operation.js';
import type { Value } from '../../values/value.js';
import { renderPieces } from './template.js';

export interface EffectInput {
  readonly value: Value;
  readonly pieces?: readonly TextPiece[];
}

export async function effectInput(
  node: Expression,
  frame: Frame,
  evaluate: (node: Expression, frame: Frame) => Promise<Value> = frame.evaluate,
): Promise<EffectInput> {
  if (node.kind !== 'template' || !looksAtValues(frame)) return { value: await evaluate(node, frame) };
  return renderPieces(node.parts, frame);
}

function looksAtValues({ run: { interceptors }, context: { suppress } }: Frame): boolean {
  return interceptors.active && suppress !== 'all' && interceptors.guardsByLabel().length > 0;
}
