/** Finds the calls whose bodies made given calls: their results are made of the results of these. calls.md 15.5. */
import type { CallKey } from '../../journal/ids.js';
import { usableEntry, type Memo } from './memo.js';

type Places = Pick<Memo, 'within'>;

/**
 * Returns the keys of all calls around, at any depth, which have a usable result, or one that waits for guards and that these calls were
 * made before: those behind it are the guards' own. Nothing twice, and none of `keys` themselves.
 */
export function callsAround(
  memos: readonly (Places & Pick<Memo, 'entries' | 'unjudged'>)[],
  keys: Iterable<CallKey>,
): ReadonlySet<CallKey> {
  const given = new Set(keys);
  const waits = (key: CallKey, { entries, unjudged }: Pick<Memo, 'entries' | 'unjudged'>): boolean => {
    const waiting = unjudged.get(key)?.result;
    if (waiting === undefined) return false;
    const isBefore = (each: CallKey): boolean => {
      const made = (usableEntry({ entries }, each) ?? unjudged.get(each))?.result;
      return made === undefined || (made.ref.run === waiting.ref.run ? made.seq < waiting.seq : made.ref.run < waiting.ref.run);
    };
    return [...given].some((each) => isBefore(each) && withCallsAround(memos, [each]).has(key));
  };
  const hasResult = (key: CallKey): boolean => memos.some((memo) => usableEntry(memo, key) !== undefined || waits(key, memo));
  return new Set([...withCallsAround(memos, given)].filter((key) => !given.has(key) && hasResult(key)));
}

/** Returns the keys and those of all calls around, at any depth. */
export function withCallsAround(memos: readonly Places[], keys: Iterable<CallKey>): ReadonlySet<CallKey> {
  const seen = new Set(keys);
  // Grows while it is walked.
  for (const key of seen) for (const { within } of memos) for (const around of within.get(key) ?? []) seen.add(around);
  return seen;
}
