import type { Json } from './event.js';

export type JsonObject = { readonly [member: string]: Json };

/** Distinguishes an object from the other kinds of JSON: null and lists are `object` to `typeof`. Sound only for values that were JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
