/**
 * Canonical JSON and digests, for the hash chain, for blobs and for call keys. Two calls must not share a key because a writer takes
 * different values for one: `JSON.stringify` and `fast-json-stable-stringify` write NaN as null, a Map as {} and -0 as 0.
 */
import stableStringify from 'fast-json-stable-stringify';
import { JournalError } from './errors.js';
import { holdsNegativeZero, writeJson } from './exact-json.js';
import type { BlobId, CallKey, Fingerprint } from './ids.js';
import { sha256Hex } from './sha256.js';

/** Levels of arrays and objects. The canonical writer recurses; it overflows somewhere above 5,000. */
export const NESTING_MAX = 1000;

/** Writes members sorted by UTF-16 units; undefined members are left out. Throws what `jsonSize` throws. */
export function canonicalJson(value: unknown): string {
  const order: Order = { isCanonical: true };
  checked(weigh(value, 0, order));
  return canonical(value, order);
}

/** Does what `canonicalJson` does; undefined for a value that JSON doesn't hold unchanged. */
export function canonicalJsonIfPlain(value: unknown): string | undefined {
  const order: Order = { isCanonical: true };
  return typeof weigh(value, 0, order) === 'number' ? canonical(value, order) : undefined;
}

/** Holds the findings of a walk through a value. */
interface Order {
  /** `JSON.stringify` writes the value as canonical JSON: members are sorted, as is usual, and no number is -0. Sorting costs most. */
  isCanonical: boolean;
}

/** `fast-json-stable-stringify` would write -0 as 0, so the few values that hold one are written here. */
function canonical(value: unknown, { isCanonical }: Order): string {
  if (isCanonical) return JSON.stringify(value);
  return holdsNegativeZero(value) ? writeJson(value, (names) => names.sort()) : stableStringify(value);
}

/** Returns `sha256:` and 64 hex digits. Text is hashed as UTF-8. */
export function sha256(content: string | Uint8Array): BlobId & CallKey & Fingerprint {
  return `sha256:${sha256Hex(content)}` as BlobId & CallKey & Fingerprint;
}

/**
 * Returns about the length of the value as JSON, in UTF-16 units before escaping: cheap, because a long string is not read.
 * Throws `JournalError`: `NOT_JSON`, with the place inside the value, when JSON can't hold it; `NESTED_TOO_DEEPLY`.
 */
export function jsonSize(value: unknown): number {
  return checked(weigh(value, 0, { isCanonical: true }));
}

function checked(size: number | Fault): number {
  if (typeof size === 'number') return size;
  if (size.found === 'too deep') {
    throw new JournalError(TOO_DEEP, `a value nested deeper than ${NESTING_MAX} levels (or in itself) can't be recorded`);
  }
  const place = size.path.length === 0 ? 'the value' : size.path.reverse().join('.');
  throw new JournalError('NOT_JSON', `${place} is ${size.found}, which JSON can't hold`, {
    hint: 'Return plain data: strings, finite numbers, booleans, null, arrays and plain objects.',
  });
}

/** True for a value that scripts may have and only the journal can't hold. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof JournalError && error.code === TOO_DEEP;
}

const TOO_DEEP = 'NESTED_TOO_DEEPLY';
const QUOTES = 2;

interface Fault {
  readonly found: string;
  /** The steps from the inside out. */
  readonly path: (string | number)[];
}

/**
 * Every call comes through here several times, and most of its data is texts: for the ones in lists and objects nothing is called. Clears
 * `order.isCanonical` where it is none.
 */
function weigh(value: unknown, depth: number, order: Order): number | Fault {
  switch (typeof value) {
    case 'string':
      return value.length + QUOTES;
    case 'number':
      if (value === 0 && Object.is(value, -0)) order.isCanonical = false;
      return Number.isFinite(value) ? 8 : fault(String(value));
    case 'boolean':
      return 5;
    case 'object':
      if (value === null) return 4;
      if (depth === NESTING_MAX) return fault('too deep'); // or it contains itself
      return Array.isArray(value) ? weighItems(value, depth, order) : weighMembers(value, depth, order);
    case 'undefined':
      return fault('undefined');
    default:
      return fault(`a ${typeof value}`);
  }
}

function weighItems(items: readonly unknown[], depth: number, order: Order): number | Fault {
  let total = 2;
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const size = typeof item === 'string' ? item.length + QUOTES : weigh(item, depth + 1, order);
    if (typeof size !== 'number') return within(size, i);
    total += size + 1;
  }
  return total;
}

function weighMembers(members: object, depth: number, order: Order): number | Fault {
  const prototype: unknown = Object.getPrototypeOf(members);
  // A plain object of another realm (a vm context) has that realm's Object.prototype, which has no prototype either.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return fault(`a ${members.constructor?.name || 'class instance'}`);
  let total = 2;
  let before = '';
  const names = Object.keys(members);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const member = (members as { readonly [name: string]: unknown })[name];
    if (member === undefined) continue;
    if (name < before) order.isCanonical = false;
    before = name;
    const size = typeof member === 'string' ? member.length + QUOTES : weigh(member, depth + 1, order);
    if (typeof size !== 'number') return within(size, name);
    total += name.length + 4 + size;
  }
  return total;
}

function fault(found: string): Fault {
  return { found, path: [] };
}

function within(inner: Fault, step: string | number): Fault {
  inner.path.push(step);
  return inner;
}
