/** Makes the object that replaces, in a list, an element that failed in a parallel loop. */
import { asElement, dataOf, type DataObject, type Value } from '../value.js';

/** Not enumerable, so that JSON, loops and comparisons see an ordinary object; a copy of a marker is not a marker. */
const IS_MARKER = Symbol('error marker');

export function errorMarker(failure: { index: number; key: string; message: string; value: Value }): DataObject {
  const { index, key, message } = failure;
  const marker = { index, key, message, error: message, value: asElement(failure.value) ?? null };
  return Object.defineProperty(marker, IS_MARKER, { value: true });
}

export function isErrorMarker(value: Value): boolean {
  const data = dataOf(value);
  return typeof data === 'object' && data !== null && IS_MARKER in data;
}
