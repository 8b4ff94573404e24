/**
 * Copies values into code of another language, and back (control.md 5).
 *
 * NATIVE-1 Arguments of code share nothing with the values of the program: code may change them at will (VALUE-2).
 * NATIVE-2 A returned value holds no object of the code: later changes there are not seen here.
 */
import { types } from 'node:util';
import type { Json } from '../../journal/event.js';
import { MlldError } from '../errors.js';
import { Annotated, dataOf, type DataObject, HostObject, type Value } from './value.js';
import { Callable } from './kinds/callable.js';
import { HostFunction } from './kinds/host-function.js';
import { keptForCode } from './keep-metadata.js';
import { putEntry } from './plain-object.js';
import { compactJson, textOf } from './text.js';

/** Returns a deep copy without metadata (NATIVE-1). Functions become their text; host objects and `undefined` are unchanged. */
export function toNative(value: Value): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Annotated) return value.metadata.isKept ? keptForCode(value, toNative) : toNative(value.data);
  if (value instanceof Callable) return textOf(value);
  if (value instanceof HostObject) return value.target;
  if (Array.isArray(value)) return value.map(toNative);
  const copy: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value as DataObject)) putEntry(copy, key, toNative(entry));
  return copy;
}

/**
 * Makes a value of what code returned, nested as `JSON.stringify` would write it (NATIVE-2). At the top, for which JSON has
 * no rule, `undefined` and functions become the empty text, and NaN and the infinities their names.
 * Throws MlldError CYCLIC_RESULT for a structure that contains itself.
 */
export function fromNative(value: unknown): Value {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  const copy = nested(value, new Set());
  return copy === undefined ? '' : copy; // null is null, and the caller decides what it means
}

/** Makes a value of something of the host as `fromNative` does, but keeps functions, class instances, null and numbers usable. */
export function fromHost(value: unknown, name = 'function', self?: unknown): Value {
  if (typeof value === 'function') return new HostFunction(name, value as (...args: unknown[]) => unknown, self);
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return nested(value, new Set()) ?? null;
  return isPlainObject(value) ? (nested(value, new Set()) ?? null) : new HostObject(value);
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Makes a value of an export of a Node module, or of a member of a host object: `fromHost`, but plain objects and lists keep class
 * instances and functions, bound to their object. It leaves out what refers back to an object around it, and what cannot be read.
 */
export function fromExport(value: unknown, name: string, self?: unknown): Value {
  return exported(value, name, self, new Map());
}

/** `seen` holds the copy of each object, undefined while it is being made, so that an object that is referred to often is copied once. */
function exported(value: unknown, name: string, self: unknown, seen: Map<object, Value>): Value {
  if (!Array.isArray(value) && !isPlainObject(value)) return fromHost(value, name, self);
  if (seen.has(value)) return seen.get(value);
  seen.set(value, undefined);
  const copyOfMember = (key: string | number, member: unknown): Value => exported(member, `${name}.${key}`, value, seen);
  const copy = Array.isArray(value)
    ? value.map((element: unknown, i) => copyOfMember(i, element) ?? null)
    : exportedObject(readableMembers(value), copyOfMember);
  seen.set(value, copy);
  return copy;
}

function exportedObject(members: readonly [string, unknown][], copyOfMember: (key: string, member: unknown) => Value): DataObject {
  const object: Record<string, Value> = {};
  for (const [key, member] of members) {
    const copy = copyOfMember(key, member);
    if (copy !== undefined) putEntry(object, key, copy);
  }
  return object;
}

/** Leaves out undefined members, and those whose getter throws. */
function readableMembers(value: object): [string, unknown][] {
  const members: [string, unknown][] = [];
  for (const key of attempt(() => Object.keys(value)) ?? []) {
    const member = attempt((): unknown => Reflect.get(value, key));
    if (member !== undefined) members.push([key, member]);
  }
  return members;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns undefined for what JSON leaves out. `above` holds the objects around, to find cycles. */
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

/** Uses `isMap` and its like, because objects of a `vm` context are not instances of this realm's classes. */
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

/** Returns plain JSON for journals: the text of what JSON cannot hold, null for `undefined`. Shares what needs no change. */
export function toJson(value: Value): Json {
  return jsonOf(value, textOf);
}

/** As `toJson`, for arguments that identify a call. The text of a function has its name: two with equal parameters are two arguments. */
export function toIdentifyingJson(value: Value): Json {
  return jsonOf(value, ({ name, params }) => `<function ${name}(${params.join(', ')})>`);
}

function jsonOf(value: Value, functionText: (callable: Callable) => string): Json {
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
  if (value instanceof Annotated) return jsonOf(value.data, functionText);
  if (value instanceof Callable) return functionText(value);
  if (value instanceof HostObject) return textOf(value);
  if (Array.isArray(value)) return arrayToJson(value, functionText);
  return objectToJson(value as DataObject, functionText);
}

function arrayToJson(array: readonly Value[], functionText: (callable: Callable) => string): Json {
  let changed: Json[] | undefined;
  for (let i = 0; i < array.length; i++) {
    const element = array[i];
    const json = typeof element === 'string' ? element : jsonOf(element, functionText);
    if (json !== element) changed ??= array.slice(0, i) as Json[];
    changed?.push(json);
  }
  return changed ?? (array as readonly Json[]);
}

function objectToJson(object: DataObject, functionText: (callable: Callable) => string): Json {
  let changed = false;
  const copy: Record<string, Json> = {};
  for (const [key, entry] of Object.entries(object)) {
    const json = jsonOf(entry, functionText);
    changed ||= json !== entry;
    putEntry(copy, key, json);
  }
  return changed ? copy : (object as { readonly [key: string]: Json });
}

/** Writes a value for an environment variable of a shell: null is empty, an array one element a line, a loaded file its raw text. */
export function shellText(value: Value): string {
  const elements = elementsOf(value);
  if (elements) return elements.map((element) => (dataOf(element) === null ? '' : textOf(element))).join('\n');
  return (dataOf(value) ?? null) === null ? '' : textOf(value);
}

/** Writes a value for a `cmd` line: a list of scalars as its elements with a blank between, other data as compact JSON. */
export function commandText(value: Value): string {
  const elements = elementsOf(value);
  if (elements === undefined) return textOf(value);
  return isDataForCommand(value) ? compactJson(value) : elements.map(textOf).join(' ');
}

/** True for an object, or a list that holds one or a list: it is one word of a `cmd` line, which can be read back. */
export function isDataForCommand(value: Value): boolean {
  const elements = elementsOf(value);
  return elements === undefined ? isData(value) && !Array.isArray(dataOf(value)) : elements.some(isData);
}

function isData(value: Value): boolean {
  if (value instanceof Annotated && value.metadata.file) return false;
  const data = dataOf(value);
  return typeof data === 'object' && data !== null && !(data instanceof Callable) && !(data instanceof HostObject);
}

/** Returns the elements of a list; a file that holds a list is a text to shells. */
function elementsOf(value: Value): readonly Value[] | undefined {
  if (value instanceof Annotated && value.metadata.file) return undefined;
  const data = dataOf(value);
  return Array.isArray(data) ? data : undefined;
}
