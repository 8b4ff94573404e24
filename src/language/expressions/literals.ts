/** Evaluates array and object literals once, left to right. values.md 4.3 to 4.5. */
import type { ArrayLiteral, ObjectLiteral } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { partOf } from '../../values/failures.js';
import { isTruthy } from '../../values/truth.js';
import { annotate, Annotated, dataOf, flow, type Data, type DataObject, type Value } from '../../values/value.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { evaluateReference } from './reference.js';

export async function evaluateArray(node: ArrayLiteral, frame: Frame): Promise<Value> {
  const values: Value[] = [];
  for (const element of node.elements) {
    const value = element.optional ? await lenient(element.value, frame) : await frame.evaluate(element.value, frame);
    if (!element.optional || isTruthy(value)) values.push(value);
  }
  return collect(values, values.map(memberOf));
}

export async function evaluateObject(node: ObjectLiteral, frame: Frame): Promise<Value> {
  const members: Value[] = [];
  const spread: Value[] = [];
  const object: Record<string, Value> = {};
  for (const entry of node.entries) {
    if ('spread' in entry) {
      const value = await evaluateReference(entry.spread, frame);
      const data = dataOf(value);
      if (typeof data !== 'object' || data === null || Array.isArray(data) || Object.getPrototypeOf(data) !== Object.prototype) {
        throw new MlldError('SPREAD', `Only an object can be spread, and @${entry.spread.name} is not an object`, {
          location: locationOf(frame.module, entry.spread.at),
        });
      }
      members.push(value);
      spread.push(value);
      for (const [key, member] of Object.entries(data as DataObject)) put(object, key, partOf(member, value));
      continue;
    }
    const value = entry.optional ? await lenient(entry.value, frame) : await frame.evaluate(entry.value, frame);
    if (entry.optional && !isTruthy(value)) continue;
    members.push(value);
    put(object, entry.key, memberOf(value));
  }
  const made = collect(members, object);
  return spread.length === 0 ? made : frame.run.failures.carry(made, spread);
}

/** Drops the metadata of a loaded file: a literal keeps its data only. world.md 5.1. */
function memberOf(value: Value): Value {
  return value instanceof Annotated ? (partOf(value.data, value) ?? null) : (value ?? null);
}

function collect(members: readonly Value[], data: Data): Value {
  return flow(annotate(data, {}), members);
}

/** Sets a member; `__proto__` is a key like any other. */
function put(object: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}
