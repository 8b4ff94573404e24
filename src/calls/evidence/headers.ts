/** Reads HTTP headers from what a body hands over: a `Headers` object, a map, a list of pairs or a plain object. calls.md 4 and 9. */
import type { Headers } from './times.js';

/** Returns names in small letters; undefined for an object that only looks like headers. */
export function headersOf(value: unknown): Headers | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    const entries: Iterable<readonly [unknown, unknown]> =
      Symbol.iterator in value ? (value as Iterable<readonly [unknown, unknown]>) : Object.entries(value);
    return Object.fromEntries([...entries].map(([name, text]) => [String(name).toLowerCase(), String(text)]));
  } catch {
    return undefined; // an iterator or getter of foreign code that fails is no header
  }
}
