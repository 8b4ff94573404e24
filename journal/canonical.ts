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
  jsonSize(value);
  return sorted(value);
}

/** Does what `canonicalJson` does; undefined for a value that JSON doesn't hold unchanged. */
export function canonicalJsonIfPlain(value: unknown): string | undefined {
  return typeof weigh(value, 0) === 'number' ? sorted(value) : undefined;
}

/** `fast-json-stable-stringify` would write -0 as 0, so the few values that hold one are written here. */
function sorted(value: unknown): string {
  if (isInOrder(value)) return JSON.stringify(value);
  return holdsNegativeZero(value) ? writeJson(value, (names) => names.sort()) : stableStringify(value);
}

/**
 * True when the members are sorted already, as is usual: sorting costs more than all the rest. For data that `jsonSize` takes. Every call
 * comes through here and through `weigh` several times, and most of its data is texts: neither function calls itself for one.
 */
function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return !Object.is(value, -0);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (typeof value[i] !== 'string' && !isInOrder(value[i])) return false;
    return true;
  }
  const names = Object.keys(value);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (i > 0 && name < (names[i - 1] as string)) return false;
    const member = (value as { readonly [name: string]: unknown })[name];
    if (typeof member !== 'string' && !isInOrder(member)) return false;
  }
  return true;
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
  const size = weigh(value, 0);
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

function weigh(value: unknown, depth: number): number | Fault {
  switch (typeof value) {
    case 'string':
      return value.length + QUOTES;
    case 'number':
      return Number.isFinite(value) ? 8 : fault(String(value));
    case 'boolean':
      return 5;
    case 'object':
      if (value === null) return 4;
      if (depth === NESTING_MAX) return fault('too deep'); // or it contains itself
      return Array.isArray(value) ? weighItems(value, depth) : weighMembers(value, depth);
    case 'undefined':
      return fault('undefined');
    default:
      return fault(`a ${typeof value}`);
  }
}

function weighItems(items: readonly unknown[], depth: number): number | Fault {
  let total = 2;
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const size = typeof item === 'string' ? item.length + QUOTES : weigh(item, depth + 1);
    if (typeof size !== 'number') return within(size, i);
    total += size + 1;
  }
  return total;
}

function weighMembers(members: object, depth: number): number | Fault {
  const prototype: unknown = Object.getPrototypeOf(members);
  // A plain object of another realm (a vm context) has that realm's Object.prototype, which has no prototype either.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return fault(`a ${members.constructor?.name || 'class instance'}`);
  let total = 2;
  const names = Object.keys(members);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const member = (members as { readonly [name: string]: unknown })[name];
    if (member === undefined) continue;
    const size = typeof member === 'string' ? member.length + QUOTES : weigh(member, depth + 1);
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
