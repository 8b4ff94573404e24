/**
 * Values on their way into code of another language, and back (language reference, control 5).
 *
 * N1  What code receives shares nothing with the values of the program: it may change it at will (V2).
 * N2  What comes back holds no object of the code's: later changes there are not seen here.
 */
import { types } from 'node:util';
import type { Json } from '../../journal/event.js';
import { MlldError } from '../errors.js';
import { Annotated, dataOf, type DataObject, HostObject, type Value } from './value.js';
import { Callable } from './kinds/callable.js';
import { HostFunction } from './kinds/host-function.js';
import { withMx } from './keep.js';
import { putEntry } from './plain-object.js';
import { compactJson, textOf } from './text.js';

/** A deep copy without notes (N1). Functions are their text, host objects themselves; `undefined` stays. */
export function toNative(value: Value): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Annotated) return value.note.isKept ? withMx(toNative(value.data), value, toNative) : toNative(value.data);
  if (value instanceof Callable) return textOf(value);
  if (value instanceof HostObject) return value.target;
  if (Array.isArray(value)) return value.map(toNative);
  const copy: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value as DataObject)) putEntry(copy, key, toNative(entry));
  return copy;
}

/**
 * The value of what code returned, nested as `JSON.stringify` would write it (N2). At the top, where JSON has nothing
 * to say, `undefined` and functions are the empty text and NaN and the infinities their names.
 * A structure that contains itself is an MlldError CYCLIC_RESULT.
 */
export function fromNative(value: unknown): Value {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  const copy = nested(value, new Set());
  return copy === undefined ? '' : copy; // null is null: what it means is for the caller to say
}

/** The value for something of the host: as `fromNative`, but functions and class instances stay usable, and null and numbers as they are. */
export function fromHost(value: unknown, name = 'function', self?: unknown): Value {
  if (typeof value === 'function') return new HostFunction(name, value as (...args: unknown[]) => unknown, self);
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return nested(value, new Set()) ?? null;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? (nested(value, new Set()) ?? null) : new HostObject(value);
}

/** undefined for what JSON leaves out. `above` are the objects around, to find cycles. */
function nested(value: unknown, above: Set<object>): Value {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : nestedObject(value, above);
    default:
      return undefined;
  }
}

function nestedObject(value: object, above: Set<object>): Value {
  if (value instanceof Annotated || value instanceof Callable || value instanceof HostObject) return value;
  if (above.has(value)) {
    throw new MlldError('CYCLIC_RESULT', 'The result contains itself', { hint: 'return plain data: what JSON can hold' });
  }
  above.add(value);
  const copy = copyOf(value, above);
  above.delete(value);
  return copy;
}

/** `isMap` and its like, because what a `vm` context makes is no instance of our classes. */
function copyOf(value: object, above: Set<object>): Value {
  if (Array.isArray(value)) return value.map((element: unknown) => nested(element, above) ?? null);
  if (types.isMap(value)) return copyEntries(value, above);
  if (types.isSet(value)) return [...value].map((element) => nested(element, above) ?? null);
  if ('toJSON' in value && typeof value.toJSON === 'function') return nested(value.toJSON(), above);
  if (types.isBoxedPrimitive(value)) return nested(value.valueOf(), above);
  return copyEntries(Object.entries(value), above);
}

function copyEntries(entries: Iterable<[unknown, unknown]>, above: Set<object>): Value {
  const object: Record<string, Value> = {};
  for (const [key, entry] of entries) {
    const value = nested(entry, above);
    if (value !== undefined) putEntry(object, String(key), value);
  }
  return object;
}

/** Plain JSON for journals and keys; what JSON cannot hold by its text, `undefined` as null. Shares what needs no change. */
export function toJson(value: Value): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'undefined':
      return null;
  }
  if (value === null) return null;
  if (value instanceof Annotated) return toJson(value.data);
  if (value instanceof Callable || value instanceof HostObject) return textOf(value);
  if (Array.isArray(value)) return arrayToJson(value);
  return objectToJson(value as DataObject);
}

function arrayToJson(array: readonly Value[]): Json {
  const copy = array.map(toJson);
  return copy.every((element, i) => element === array[i]) ? (array as readonly Json[]) : copy;
}

function objectToJson(object: DataObject): Json {
  let changed = false;
  const copy: Record<string, Json> = {};
  for (const [key, entry] of Object.entries(object)) {
    const json = toJson(entry);
    changed ||= json !== entry;
    putEntry(copy, key, json);
  }
  return changed ? copy : (object as { readonly [key: string]: Json });
}

/** What a shell finds in an environment variable: null is empty, an array one element a line, a loaded file its raw text. */
export function shellText(value: Value): string {
  const elements = elementsOf(value);
  if (elements) return elements.map((element) => (dataOf(element) === null ? '' : textOf(element))).join('\n');
  return (dataOf(value) ?? null) === null ? '' : textOf(value);
}

/** What interpolation puts into a `cmd` line: a list of scalars is its elements with a blank between, other data compact JSON. */
export function commandText(value: Value): string {
  const elements = elementsOf(value);
  if (elements === undefined) return textOf(value);
  return isDataForCommand(value) ? compactJson(value) : elements.map(textOf).join(' ');
}

/** An object, or a list with an object or a list in it: one word of a `cmd` line, which can be read back. */
export function isDataForCommand(value: Value): boolean {
  const elements = elementsOf(value);
  return elements === undefined ? isData(value) && !Array.isArray(dataOf(value)) : elements.some(isData);
}

function isData(value: Value): boolean {
  if (value instanceof Annotated && value.note.file) return false;
  const data = dataOf(value);
  return typeof data === 'object' && data !== null && !(data instanceof Callable) && !(data instanceof HostObject);
}

/** The elements of a list; a file that holds a list is a text to shells. */
function elementsOf(value: Value): readonly Value[] | undefined {
  if (value instanceof Annotated && value.note.file) return undefined;
  const data = dataOf(value);
  return Array.isArray(data) ? data : undefined;
}
