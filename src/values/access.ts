/**
 * Access paths: fields, indexes, slices, filters, `[*]` (values.md 8). Labels of the base flow to the
 * result; elements that are loaded files keep their metadata. `.mx` is not read here: see metadata.ts.
 */
import { messageOf, MlldError } from '../errors.js';
import { Annotated, type Data, dataOf, flow, HostObject, type Value } from './value.js';
import { looseEquals } from './equality.js';
import { missingMember, partOf } from './failures.js';
import { firstInk } from './formats/json-text.js';
import { aKind, kindOf } from './kinds/kind.js';
import { canKeep, kept } from './keep-metadata.js';
import { fromExport } from './native.js';
import { toNumber } from './numbers.js';
import { isDataObject } from './plain-object.js';
import { loadedText, textOf } from './text.js';
import { isTruthy } from './truth.js';

export { HostFunction } from './kinds/host-function.js';

/** The access as written in the source, `@o.name`, for messages. */
export interface Access {
  readonly written: string;
}

/** Returns null for a missing field and below null. Throws NO_FIELDS for a base that has none. The caller refuses an undefined base. */
export function readField(base: Value, name: string, context: Access): Value {
  if (isKeep(base, name)) return kept(base);
  if (isTextItself(base, name)) return partOf(flow(base.data, [base]), base);
  const text = name === 'length' && !Array.isArray(dataOf(base)) ? loadedText(base, name) : undefined;
  if (text !== undefined) return partOf(flow(text.length, [base]), base);
  const value = fieldOf((base instanceof Annotated ? base.data : base) ?? null, name, context);
  const found = value === null ? (missingMember(base, name) ?? null) : value;
  return base instanceof Annotated ? partOf(flow(found, [base]), base) : found;
}

/** Reads `.keep` of something loaded, unless it has a member of that name. */
function isKeep(base: Value, name: string): boolean {
  if (name !== 'keep' && name !== 'keepStructured') return false;
  const data = dataOf(base);
  return canKeep(base) && !(isDataObject(data) && Object.hasOwn(data, name));
}

/** Reads `.text` and `.data` of a text that came from a file, a function or a stage. world.md 9. */
function isTextItself(base: Value, name: string): base is Annotated {
  if ((name !== 'text' && name !== 'data') || !(base instanceof Annotated) || typeof base.data !== 'string') return false;
  const { file, isResult, sources } = base.metadata;
  return file !== undefined || isResult === true || sources.some((source) => source.startsWith('src:'));
}

function fieldOf(data: Data, name: string, context: Access): Value {
  if (data === null) return null;
  if (isDataObject(data)) return Object.hasOwn(data, name) ? (data[name] ?? null) : null;
  if (name === 'length' && (typeof data === 'string' || Array.isArray(data))) return data.length;
  if (data instanceof HostObject) return hostField(data.target, name, context);
  if (Array.isArray(data)) {
    if (isDigits(name)) return data[Number(name)] ?? null;
    return Object.hasOwn(data, name) ? (Reflect.get(data, name) as Value) : null; // `@input.any` in a guard
  }
  throw noField(data, name, context);
}

/** Throws CODE_THREW when the object's getter throws. */
function hostField(target: object, name: string, { written }: Access): Value {
  try {
    return fromExport(Reflect.get(target, name), name, target);
  } catch (cause) {
    throw new MlldError('CODE_THREW', `${written}.${name}: ${messageOf(cause)}`, { cause });
  }
}

function isDigits(text: string): boolean {
  return /^\d+$/.test(text);
}

const FILE_ENDINGS =
  'att cjs css csv diff dot gif html jpg js json jsonl log md mjs mld mtt patch pdf png py rs sh sql svg toml ts tsv tsx txt xml yaml yml'.split(
    ' ',
  );

function noField(data: Data, name: string, { written }: Access): MlldError {
  return new MlldError('NO_FIELDS', `${written}: ${aKind(data)} has no field "${name}"`, { hint: fieldHint(data, name, written) });
}

function fieldHint(data: Data, name: string, written: string): string | undefined {
  if (kindOf(data) === 'executable') return 'call it first: parentheses follow its name';
  if (typeof data !== 'string') return undefined;
  const first = firstInk(data);
  if (first === '{' || first === '[') return 'the text looks like JSON: parse it with | @parse';
  if (!FILE_ENDINGS.includes(name.toLowerCase())) return undefined;
  const stem = written.endsWith(`.${name}`) ? written.slice(0, -name.length - 1) : written;
  return `for the value followed by ".${name}" write ${stem}\\.${name}`;
}

/** Returns null outside an array. Throws for an undefined index, and for a number where there is neither an array nor that key. */
export function readIndex(base: Value, index: Value, context: Access): Value {
  if (base instanceof Annotated) return partOf(flow(elementOf(base.data, dataOf(index), context), [base]), base);
  return elementOf(base ?? null, dataOf(index), context);
}

function elementOf(data: Data, index: Data | undefined, context: Access): Value {
  if (index === undefined) throw new MlldError('UNDEFINED_INDEX', `${context.written}: the index is not defined`);
  if (data === null) return null;
  if (typeof index === 'number') return numberedElement(data, index, context);
  if (typeof index === 'object' && index !== null)
    throw new MlldError('BAD_INDEX', `${context.written}: ${aKind(index)} can't be used as an index`);
  if (Array.isArray(data) && typeof index === 'string' && Number.isInteger(Number(index)) && index.trim() !== '') {
    return numberedElement(data, Number(index), context);
  }
  const key = textOf(index);
  const value = fieldOf(data, key, context);
  return value === null ? (missingMember(data, key) ?? null) : value;
}

function numberedElement(data: Data, index: number, context: Access): Value {
  if (Array.isArray(data)) return data[index] ?? null;
  const key = String(index);
  if (data instanceof HostObject || (isDataObject(data) && Object.hasOwn(data, key))) return fieldOf(data, key, context);
  throw new MlldError('NO_ELEMENTS', `${context.written}: ${aKind(data)} has no element ${key}`);
}

/** Reads `[from:to]`, with `undefined` for an open end. Returns null for null. Throws NO_ELEMENTS for neither array nor text. */
export function slice(base: Value, from: Value, to: Value): Value {
  const data = dataOf(base);
  if (data === null || data === undefined) return flow(null, [base]);
  if (!Array.isArray(data) && typeof data !== 'string') {
    throw new MlldError('NO_ELEMENTS', `[${boundText(from)}:${boundText(to)}] takes a part of an array, and this is ${aKind(data)}`);
  }
  const [start, end] = [bound(from), bound(to)];
  return partOf(flow(data.slice(start, end), [base]), base);
}

function boundText(bound: Value): string {
  return bound === undefined ? '' : textOf(bound);
}

function bound(value: Value): number | undefined {
  if (value === undefined) return undefined;
  const number = toNumber(value);
  if (!Number.isInteger(number)) throw new MlldError('BAD_INDEX', `"${textOf(value)}" can't be a bound of a slice: a bound is an integer`);
  return number;
}

export type FilterOperator = '=' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '~';

/** Reads `[?path]` and `[?path operator literal]`. A missing field equals null and has no order. */
export function filterBy(base: Value, path: readonly string[], operator: FilterOperator | undefined, literal: Value): Value {
  const data = dataOf(base);
  if (data === null || data === undefined) return flow(null, [base]);
  const filter = `[?${path.join('.')}]`;
  if (!Array.isArray(data)) throw new MlldError('NO_ELEMENTS', `${filter} filters an array, and this is ${aKind(data)}`);
  const kept = data.filter((element: Value) => holds(path.reduce(fieldIfAny, element), operator, literal));
  return partOf(flow(kept, [base]), base);
}

function fieldIfAny(value: Value, name: string): Value {
  const data = dataOf(value);
  if (Array.isArray(data) && isDigits(name)) return data[Number(name)];
  return isDataObject(data) && Object.hasOwn(data, name) ? data[name] : undefined;
}

function holds(field: Value, operator: FilterOperator | undefined, literal: Value): boolean {
  switch (operator) {
    case undefined:
      return isTruthy(field);
    case '=':
    case '==':
      return looseEquals(field, literal);
    case '!=':
      return !looseEquals(field, literal);
    case '<':
      return toNumber(field) < toNumber(literal);
    case '<=':
      return toNumber(field) <= toNumber(literal);
    case '>':
      return toNumber(field) > toNumber(literal);
    case '>=':
      return toNumber(field) >= toNumber(literal);
    case '~':
      return (dataOf(field) ?? null) !== null && textOf(field).includes(textOf(literal));
  }
}

/** Returns the elements for `[*]`, null for null. The caller reads the rest of the path and lets the base's labels flow. */
export function each(base: Value): readonly Value[] | null {
  const data = dataOf(base);
  if (data === null || data === undefined) return null;
  if (!Array.isArray(data)) throw new MlldError('NO_ELEMENTS', `[*] goes through an array, and this is ${aKind(data)}`);
  return data;
}
