/** The first argument of a call as short text: what a prefix is compared with, and what lists show. */
import type { Json, Payload } from '../journal/event.js';

/** UTF-16 units. A prefix longer than this can't be told apart and is refused. */
export const PREVIEW_UNITS_MAX = 256;

/** Undefined when there is no first argument, or when the arguments may not be read here (secret, redacted, in a blob). */
export function previewOf(args: Payload): string | undefined {
  if (!('inline' in args) || !Array.isArray(args.inline)) return undefined;
  const first = (args.inline as readonly Json[])[0];
  return first === undefined ? undefined : clip(textOf(first));
}

/** Text as it is, anything else as compact JSON with members in order of their names, as the call key has it. */
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, sortMembers);
}

function clip(text: string): string {
  return text.length > PREVIEW_UNITS_MAX ? text.slice(0, PREVIEW_UNITS_MAX) : text;
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
