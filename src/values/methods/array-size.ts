/** Limits the size of arrays. Without a limit the engine itself would end the process, at about ten times as many elements. */
import { MlldError } from '../../errors.js';

export const ELEMENTS_MAX = 10_000_000;

/** Throws MlldError ARRAY_TOO_LONG. */
export function refuseTooMany(elements: number): void {
  if (elements <= ELEMENTS_MAX) return;
  throw new MlldError('ARRAY_TOO_LONG', `An array grew longer than ${ELEMENTS_MAX / 1_000_000} million elements`, {
    hint: 'write the parts to a file with append',
  });
}

export function joinArrays<T>(first: readonly T[], second: readonly T[]): readonly T[] {
  refuseTooMany(first.length + second.length);
  return [...first, ...second];
}
