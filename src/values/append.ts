/** `@name += added` (values.md 3.3, control.md 2.4). Returns a new value; the old one is not changed. */
import { MlldError } from '../errors.js';
import { Annotated, asElement, type Data, dataOf, flow, type Value } from './value.js';
import { joinArrays } from './methods/array-size.js';
import { aKind } from './kinds/kind.js';
import { toNumber } from './numbers.js';
import { isDataObject } from './plain-object.js';
import { textOf } from './text.js';

/** `name` is the variable without `@`, for messages. */
export function appendTo(current: Value, added: Value, name: string): Value {
  const result = appended(current, added, name);
  return current instanceof Annotated || added instanceof Annotated ? flow(result, [current, added]) : result;
}

function appended(current: Value, added: Value, name: string): Data {
  const data = dataOf(current);
  const more = dataOf(added);
  if (typeof data === 'number') {
    const amount = toNumber(more);
    if (Number.isNaN(amount) && typeof more !== 'number') throw wrongOperand(name, 'is a number', added);
    return data + amount;
  }
  if (typeof data === 'string') return textOf(current) + textOf(added);
  if (Array.isArray(data)) return joinArrays(data, Array.isArray(more) ? more : [asElement(added) ?? null]);
  if (isDataObject(data)) {
    if (!isDataObject(more)) throw wrongOperand(name, 'is an object', added);
    return { ...data, ...more };
  }
  throw new MlldError('APPEND_KIND', `@${name} += needs a number, text, array or object, and @${name} is ${aKind(current)}`);
}

function wrongOperand(name: string, what: string, added: Value): MlldError {
  return new MlldError('APPEND_KIND', `@${name} += : @${name} ${what}, and ${aKind(added)} cannot be added to it`);
}
