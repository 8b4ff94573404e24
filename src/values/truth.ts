/** Decides which values count as true (values.md 9.2). */
import { MlldError } from '../errors.js';
import { Annotated, type DataObject, HostObject, type Value } from './value.js';
import { Callable } from './kinds/callable.js';
import { isErrorMarker } from './kinds/marker.js';

export function isTruthy(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return isTruthyText(value);
  if (typeof value === 'number') return value !== 0 && value === value;
  if (value === null || value === undefined) return false;
  if (value instanceof Annotated) return isTruthy(value.data);
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Callable || value instanceof HostObject) return true;
  if (isErrorMarker(value)) throw markerInCondition(value);
  for (const key in value as DataObject) if (Object.hasOwn(value, key)) return true;
  return false;
}

function isTruthyText(text: string): boolean {
  switch (text.length) {
    case 0:
      return false;
    case 1:
      return text !== '0';
    case 3:
      return text.toLowerCase() !== 'nan';
    case 5:
      return text.toLowerCase() !== 'false';
    default:
      return true;
  }
}

function markerInCondition(marker: object): MlldError {
  const { message } = marker as { message?: unknown };
  return new MlldError('CONDITION_IS_ERROR', `The condition is the error of a failed iteration: ${String(message)}`, {
    hint: 'look at @mx.errors, or at .message of the entry, before using it',
  });
}
