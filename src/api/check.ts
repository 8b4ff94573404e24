/** Checks the requests of a program before anything happens, because types do not guard a program in JavaScript. */
import { MlldError } from '../errors.js';

type Kind = 'text' | 'true or false' | 'number' | 'function' | 'object' | 'list' | 'list of texts' | 'AbortSignal' | 'text or object';

/** Names the kind of each member. A member that is missing or undefined has a default. */
export type Members<T> = { readonly [K in keyof T]-?: Kind | readonly string[] };

const IS: { readonly [K in Kind]: (value: unknown) => boolean } = {
  text: (value) => typeof value === 'string',
  'true or false': (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number' && value >= 0,
  function: (value) => typeof value === 'function',
  object: isObject,
  list: Array.isArray,
  'list of texts': (value) => Array.isArray(value) && value.every((entry) => typeof entry === 'string'),
  AbortSignal: (value) => isObject(value) && 'aborted' in value && 'addEventListener' in value,
  'text or object': (value) => typeof value === 'string' || isObject(value),
};

/** Throws BAD_OPTION, which names the member. `where` is the call: `run()`. */
export function checkMembers<T extends object>(
  where: string,
  request: unknown,
  members: Members<T>,
  required: readonly (keyof T & string)[] = [],
): void {
  if (!isObject(request)) throw badOption(where, `needs an object of options, not ${named(request)}`, `${where.replace('()', '')}({ … })`);
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
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : typeof value === 'function' ? 'a function' : 'an object';
}

export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
