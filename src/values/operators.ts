/** Implements the operators that need both sides (values.md 9.3 to 9.6). Labels of both flow to the result. */
import { MlldError } from '../errors.js';
import { Annotated, flow, type Value } from './value.js';
import { looseEquals, tolerantMatch } from './equality.js';
import { toNumber } from './numbers.js';

export { looseEquals } from './equality.js';

export type StrictOperator = '+' | '-' | '*' | '/' | '%' | '==' | '!=' | '~=' | '!~=' | '<' | '<=' | '>' | '>=';

export function binary(operator: StrictOperator, left: Value, right: Value): Value {
  const result = compute(operator, left, right);
  return left instanceof Annotated || right instanceof Annotated ? flow(result, [left, right]) : result;
}

function compute(operator: StrictOperator, left: Value, right: Value): number | boolean {
  switch (operator) {
    case '+':
      return add(left, right);
    case '-':
      return toNumber(left) - toNumber(right);
    case '*':
      return toNumber(left) * toNumber(right);
    case '/':
      return toNumber(left) / toNumber(right);
    case '%':
      return toNumber(left) % toNumber(right);
    case '==':
      return looseEquals(left, right);
    case '!=':
      return !looseEquals(left, right);
    case '~=':
      return tolerantMatch(left, right);
    case '!~=':
      return !tolerantMatch(left, right);
    case '<':
      return toNumber(left) < toNumber(right);
    case '<=':
      return toNumber(left) <= toNumber(right);
    case '>':
      return toNumber(left) > toNumber(right);
    case '>=':
      return toNumber(left) >= toNumber(right);
  }
}

function add(left: Value, right: Value): number {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  const a = toNumber(left);
  const b = toNumber(right);
  if (Number.isNaN(a) && Number.isNaN(b) && isText(left) && isText(right)) {
    throw new MlldError('TEXTS_ADDED', '+ adds numbers, and both sides are texts that are not numbers', {
      hint: 'join texts with a template: `@first@second`',
    });
  }
  return a + b;
}

function isText(value: Value): boolean {
  return typeof value === 'string' || (value instanceof Annotated && typeof value.data === 'string');
}
