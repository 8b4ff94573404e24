/**
 * Facts that fit into a line. What is data goes to blobs as a payload; the rest is bounded here: texts for people are cut, long lists of
 * call keys are said in several events.
 */
import { wholeCharacters } from '../../../grammar/columns.js';
import type { Fact } from '../../../journal/event.js';
import type { InvalidationFact } from './prior-runs.js';

/** UTF-16 units of a message, a reason or a hint. */
const MESSAGE_UNITS_MAX = 64 * 1024;
/** Of one event: some megabytes. */
const KEYS_MAX = 100_000;

/** The fact itself where nothing is too long, as nearly always. */
export function bounded(fact: Fact): Fact {
  const { message, reason, error, errorHint, pause } = fact as { readonly [member: string]: unknown };
  if (!isLong(message) && !isLong(reason) && !isLong(error) && !isLong(errorHint) && !isLong(pause)) return fact;
  return {
    ...fact,
    ...(isLong(message) && { message: cut(message) }),
    ...(isLong(reason) && { reason: cut(reason) }),
    ...(isLong(error) && { error: cut(error) }),
    ...(isLong(errorHint) && { errorHint: cut(errorHint) }),
    ...(isLong(pause) && { pause: cut(pause) }),
  } as Fact; // of the same shape
}

/** Folded one after the other they drop what the one drops. A kill in between leaves a run that dropped some, as one before leaves none. */
export function splitInvalidation(drop: InvalidationFact): readonly InvalidationFact[] {
  if (drop.type !== 'memo.invalidated' || drop.keys.length <= KEYS_MAX) return [drop];
  const parts: InvalidationFact[] = [];
  for (let at = 0; at < drop.keys.length; at += KEYS_MAX) parts.push({ ...drop, keys: drop.keys.slice(at, at + KEYS_MAX) });
  return parts;
}

/** A text, or the `error` and `pause` of `run.finished`, which have a message. */
type LongText = string | { readonly message: string };

function isLong(told: unknown): told is LongText {
  if (typeof told === 'object' && told !== null) return isLong((told as { message?: unknown }).message);
  return typeof told === 'string' && told.length > MESSAGE_UNITS_MAX;
}

function cut(told: LongText): LongText {
  if (typeof told === 'object') return { ...told, message: cut(told.message) as string };
  return `${wholeCharacters(told, MESSAGE_UNITS_MAX)}… (the beginning of ${told.length} characters)`;
}
