/** Reading members of JSON whose shape is another program's business: whatever is not as expected is undefined. */
import type { Json } from '../../../journal/event.js';
import { isObject } from '../../../journal/json-object.js';
import type { JsonObject } from './reply.js';

/** The object at a path of members; an empty one where there is none. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  let found: Json | undefined = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return isObject(found) ? found : {};
}

export function textAt(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
}

/** A number that can count: finite and not negative. */
export function countAt(object: JsonObject, name: string): number | undefined {
  const value = object[name];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

export function objectsAt(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The sum of what is known; undefined when nothing is. */
export function sumOf(...counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}
