/** Checks the requests of a program before anything happens, because types do not guard a program in JavaScript. */
import { MlldError } from '../errors.js';
import { shortened } from '../values/shortened.js';
import { isFolder } from '../world/files/folders.js';

type Kind = keyof typeof IS;

/** So much of a wrong text is quoted. */
const VALUE_UNITS = 40;

/** Names the kind of each member. A member that is missing or undefined has a default. */
export type Members<T> = { readonly [K in keyof T]-?: Kind | readonly string[] };

const IS = {
  text: isText,
  /** The record of a run in a folder that there is not would be made in a new one, and nothing would be reused. */
  'path of a folder': (value) => isText(value) && isFolder(value),
  'true or false': isBoolean,
  'true, false or a text': (value) => isBoolean(value) || isText(value),
  number: (value) => typeof value === 'number' && value >= 0,
  'whole number of at least 1': (value) => Number.isInteger(value) && Number(value) >= 1,
  'number above 0, or a text': (value) => (typeof value === 'number' && value > 0) || isText(value),
  function: (value) => typeof value === 'function',
  object: isRecord,
  Map: (value) => value instanceof Map,
  list: Array.isArray,
  'list of texts': isTexts,
  'text or list of texts': (value) => isText(value) || isTexts(value),
  AbortSignal: (value) => isRecord(value) && 'aborted' in value && 'addEventListener' in value,
  'text or object': (value) => isText(value) || isRecord(value),
} satisfies { readonly [kind: string]: (value: unknown) => boolean };

/** Throws BAD_OPTION, which names the member. `where` is the call: `run()`. */
export function checkMembers<T extends object>(
  where: string,
  request: unknown,
  members: Members<T>,
  required: readonly (keyof T & string)[] = [],
): void {
  if (!isRecord(request)) throw badOption(where, `needs an object of options, not ${named(request)}`, `${where.replace('()', '')}({ … })`);
  const names = Object.keys(members);
  for (const name of required) {
    if (request[name] === undefined) throw badOption(where, `${name} is missing`, wanted(members[name]));
  }
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined) continue;
    const kind = (members as { readonly [name: string]: Kind | readonly string[] })[name];
    if (kind === undefined) throw badOption(where, `unknown option ${name}`, `the options are ${names.join(', ')}`);
    const isRight = typeof kind === 'string' ? IS[kind](value) : kind.includes(value as string);
    if (!isRight) throw badOption(where, `${name} is ${named(value)}`, wanted(kind));
  }
}

export function badOption(where: string, what: string, hint: string): MlldError {
  return new MlldError('BAD_OPTION', `${where}: ${what}`, { hint });
}

function wanted(kind: Kind | readonly string[]): string {
  return typeof kind === 'string' ? `it must be: ${kind}` : `it is one of ${kind.join(', ')}`;
}

function named(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string') return JSON.stringify(shortened(value, VALUE_UNITS));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : typeof value === 'function' ? 'a function' : 'an object';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

/** True for an object with named members, whatever they are: no list. `isObject` of the journal is for values that were JSON. */
export function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
