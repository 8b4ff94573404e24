/** Copies data of one realm into another: arrays, plain objects and dates are rebuilt, anything else passes unchanged. */
import { types } from 'node:util';
import { copyHidden } from '../../values/kinds/native-text.js';

/** Makes empty objects of one realm. */
export interface Builder {
  list(): unknown[];
  record(): Record<string, unknown>;
  date(ms: number): Date;
}

/** Evaluates to the builder of the realm it is evaluated in. */
export const BUILD = '({ list: () => [], record: () => ({}), date: (ms) => new Date(ms) })';

/** Builds objects of this realm. */
export const outside: Builder = { list: () => [], record: () => ({}), date: (ms) => new Date(ms) };

export function crossed(value: unknown, builder: Builder, met?: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (types.isDate(value)) return builder.date(Number(value));
  const isList = Array.isArray(value);
  if (!isList && !isPlain(value)) return value;
  const known = met?.get(value);
  if (known !== undefined) return known;
  const copies = met ?? new Map<object, unknown>();
  if (isList) {
    const copy = builder.list();
    copies.set(value, copy);
    for (const element of value as unknown[]) copy.push(crossed(element, builder, copies));
    return copyHidden(value, copy);
  }
  const copy = builder.record();
  copies.set(value, copy);
  for (const [key, member] of Object.entries(value)) {
    const inner = crossed(member, builder, copies);
    // An own member of this name must not become the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: inner, writable: true, enumerable: true, configurable: true });
    else copy[key] = inner;
  }
  return copyHidden(value, copy);
}

/** True for an object made by a literal of either realm: its prototype ends the chain, or there is none. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}
