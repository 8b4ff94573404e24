/** Makes objects entry by entry from names that a script or a file chose. */
import { Annotated, type DataObject, HostObject, type Value } from './value.js';
import { Callable } from './kinds/callable.js';

/** Plain assignment would lose a key called `__proto__` and change the prototype instead. */
export function putEntry<T>(object: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** True for an object of entries: not an array, a function, an object of the host, or wrapped. */
export function isDataObject(value: Value): value is DataObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return !(value instanceof Annotated || value instanceof Callable || value instanceof HostObject);
}
