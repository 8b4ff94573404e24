/**
 * The pieces of a text that is the input of an effect: guards of a label look at each value that was put into it, and replace it where it
 * stands. instrumentation.md 4.2.
 */
import type { TextPiece } from '../runtime/operation.js';
import { textOf } from '../values/text.js';
import { annotate, flow, type Value } from '../values/value.js';

export function pieceAt(pieces: readonly TextPiece[] | undefined, at: number): Value {
  const piece = pieces?.[at];
  return typeof piece === 'string' ? piece : piece?.value;
}

export function withPiece(pieces: readonly TextPiece[], at: number, value: Value): readonly TextPiece[] {
  return pieces.map((piece, i) => (i === at ? { value } : piece));
}

/** Returns the whole text with the labels of the values in it. */
export function textOfPieces(pieces: readonly TextPiece[]): Value {
  const values = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.value]));
  return flow(annotate(pieces.map((piece) => (typeof piece === 'string' ? piece : textOf(piece.value))).join(''), {}), values);
}
