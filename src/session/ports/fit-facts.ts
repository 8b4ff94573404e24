/**
 * Makes facts fit into a line of the journal. Data is stored as a payload, in a blob if it is large; texts for people are cut here, and a
 * long list of call keys is split into several events.
 */
import { wholeCharacters } from '../../../grammar/columns.js';
import type { Fact, FactOf, FactType } from '../../../journal/event.js';
import type { InvalidationFact } from './prior-runs.js';

/** Limits a message, a reason or a hint, in UTF-16 units. */
const MESSAGE_UNITS_MAX = 64 * 1024;
/** Limits the keys of one event, which are some megabytes then. */
const KEYS_MAX = 100_000;

/** These members hold texts for people. */
const TEXT_MEMBERS = ['message', 'reason', 'error', 'errorHint', 'pause'] as const;

type MemberOf<F> = F extends unknown ? keyof F : never;
type TypeWithoutText = { [T in FactType]: MemberOf<FactOf<T>> & (typeof TEXT_MEMBERS)[number] extends never ? T : never }[FactType];

/** Nothing in them is for `bounded`. These are the ones that a call records. */
export const WITHOUT_TEXT: ReadonlySet<FactType> = new Set<TypeWithoutText>([
  'op.started',
  'call.started',
  'call.completed',
  'call.reused',
  'result.received',
]);

/** Returns the fact itself if nothing is too long, which is nearly always the case. */
export function bounded(fact: Fact): Fact {
  const { message, reason, error, errorHint, pause } = fact as { readonly [member: string]: unknown };
  // Most facts have none of them, and this is asked of every fact.
  if (message === undefined && reason === undefined && error === undefined && errorHint === undefined && pause === undefined) return fact;
  if (!isLong(message) && !isLong(reason) && !isLong(error) && !isLong(errorHint) && !isLong(pause)) return fact;
  const copy: { [member: string]: unknown } = { ...fact };
  for (const member of TEXT_MEMBERS) {
    const text = copy[member];
    if (isLong(text)) copy[member] = cut(text);
  }
  return copy as Fact; // of the same shape
}

/**
 * Returns facts that together invalidate what the one does. A kill between them leaves a run that invalidated some of it, just as a kill
 * before the first leaves one that invalidated nothing.
 */
export function splitInvalidation(fact: InvalidationFact): readonly InvalidationFact[] {
  if (fact.type !== 'memo.invalidated' || fact.keys.length <= KEYS_MAX) return [fact];
  const parts: InvalidationFact[] = [];
  for (let at = 0; at < fact.keys.length; at += KEYS_MAX) parts.push({ ...fact, keys: fact.keys.slice(at, at + KEYS_MAX) });
  return parts;
}

/** Either a text, or `error` and `pause` of `run.finished`, which have a message. */
type LongText = string | { readonly message: string };

function isLong(text: unknown): text is LongText {
  if (typeof text === 'object' && text !== null) return isLong((text as { message?: unknown }).message);
  return typeof text === 'string' && text.length > MESSAGE_UNITS_MAX;
}

function cut(text: LongText): LongText {
  if (typeof text === 'object') return { ...text, message: cut(text.message) as string };
  return `${wholeCharacters(text, MESSAGE_UNITS_MAX)}… (the beginning of ${text.length} characters)`;
}
