/** Makes numbers of values (values.md 9.3). */
import { Annotated, type Value } from './value.js';

/** Returns NaN for what is not a number; never fails. */
export function toNumber(value: Value): number {
  switch (typeof value) {
    case 'number':
      return value;
    case 'string':
      return textToNumber(value);
    case 'boolean':
      return value ? 1 : 0;
    default:
      if (value === null) return 0;
      return value instanceof Annotated ? toNumber(value.data) : NaN;
  }
}

function textToNumber(text: string): number {
  const number = Number(text); // trims, takes any usual notation, and the empty text as 0
  if (number === number) return number;
  const trimmed = text.trim();
  if (trimmed === 'true') return 1;
  return trimmed === 'false' ? 0 : NaN;
}
