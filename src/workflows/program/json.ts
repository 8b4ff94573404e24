/** Copies what a program hands over as JSON, and names the member that is none. workflows-js.md 15. */
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { putEntry } from '../../values/plain-object.js';

const DEPTH_MAX = 1000;

/** Members that are undefined are left out, as JSON does. Throws NOT_JSON. `what` is the name of the value in messages. */
export function jsonOf(value: unknown, what: string): Json {
  return copyOf(value, what, []);
}

function copyOf(value: unknown, at: string, above: readonly object[]): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw notJson(at, String(value));
    return value === 0 ? 0 : value; // JSON has no -0
  }
  if (typeof value !== 'object') throw notJson(at, typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`);
  if (above.includes(value)) throw notJson(at, 'a part of itself');
  if (above.length === DEPTH_MAX) throw notJson(at, `nested more than ${DEPTH_MAX} levels deep`);
  const inside = [...above, value];
  if (Array.isArray(value)) return Array.from(value, (element: unknown, index) => copyOf(element, `${at}[${index}]`, inside));
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) throw notJson(at, `an object of class ${classOf(prototype)}`);
  const copy: { [name: string]: Json } = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) putEntry(copy, name, copyOf(member, `${at}.${name}`, inside));
  }
  return copy;
}

function classOf(prototype: object): string {
  const { constructor } = prototype as { readonly constructor?: unknown };
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'its own';
}

function notJson(at: string, is: string): MlldError {
  return new MlldError('NOT_JSON', `${at} is ${is}, which JSON can't hold`, {
    hint: 'pass texts, numbers, booleans, null, lists and plain objects of these',
  });
}
