/** The first argument of a call as short text: what a prefix is compared with, and what lists show. */
import { exactJson } from '../../journal/exact-json.js';
import type { Json, Payload } from '../../journal/event.js';

/** UTF-16 units. A prefix longer than this can't be told apart and is refused. */
export const PREVIEW_UNITS_MAX = 256;

/** Undefined when there is no first argument, or when the arguments may not be read here (secret, redacted, in a blob). */
export function previewOf(args: Payload): string | undefined {
  if (!('inline' in args) || !Array.isArray(args.inline)) return undefined;
  return firstArgument(args.inline as readonly Json[], PREVIEW_UNITS_MAX);
}

/** Returns the first argument as text, at most so many UTF-16 units of it; undefined when there is none. */
export function firstArgument(args: readonly Json[], unitsMax = Number.POSITIVE_INFINITY): string | undefined {
  const first = args[0];
  return first === undefined ? undefined : textOf(promptOf(first) ?? first, unitsMax).slice(0, unitsMax);
}

/** Every member of the request of a pipeline stage. */
const OF_A_STAGE = ['attempt', 'branch', 'effort', 'model', 'prompt', 'provider', 'visit'];
/** Members that it has where text goes before the prompt, behind a restart and in a child pipeline. */
const SOMETIMES = new Set(['carryOver', 'restarts', 'within']);

/** Returns the prompt of a stage's request: people recognise the call by it, and not by its place in the walk or the model's settings. */
function promptOf(first: Json): Json | undefined {
  if (typeof first !== 'object' || first === null || Array.isArray(first)) return undefined;
  const question = first as { readonly [name: string]: Json };
  const members = Object.keys(question).filter((name) => !SOMETIMES.has(name));
  return members.length === OF_A_STAGE.length && OF_A_STAGE.every((name) => name in question) ? question['prompt'] : undefined;
}

/** Text as it is, anything else as compact JSON with members in order of their names, as the call key has it. */
function textOf(value: Json, unitsMax: number): string {
  return typeof value === 'string' ? value : compactJson(value, unitsMax);
}

/** The right text up to so many units; what lies behind is not looked at, because arguments may be large. */
function compactJson(value: Json, unitsMax: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, unitsMax));
  if (typeof value !== 'object' || value === null) return exactJson(value);
  const isList = Array.isArray(value);
  const members: readonly (readonly [string, Json])[] = isList
    ? value.map((item: Json) => ['', item] as const)
    : Object.keys(value)
        .sort()
        .map((name) => [`${JSON.stringify(name)}:`, (value as { readonly [name: string]: Json })[name] as Json] as const);
  let text = isList ? '[' : '{';
  for (const [place, [label, member]] of members.entries()) {
    if (text.length >= unitsMax) return text;
    text += (place === 0 ? '' : ',') + label + compactJson(member, unitsMax - text.length);
  }
  return text + (isList ? ']' : '}');
}
