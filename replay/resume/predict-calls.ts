/**
 * Which questions a run comes to that asks what the runs lately did: those of the last run that completed and of the broken ones since. What
 * an llm call asks inside it comes up only where that call is executed; an answer that nobody asked for lately comes up nowhere.
 */
import type { CallKey } from '../../journal/ids.js';
import type { Invalidation } from './invalidation.js';
import { usableEntry, type Memo } from '../memo/memo.js';

/** `forks`: a script that has asked nothing yet is taken to ask what its sources did. */
export function predictCalls(own: Memo, forks: readonly Memo[], isServed: (key: CallKey) => boolean): ReadonlySet<CallKey> {
  const askers = own.calledBefore.size + own.calledNow.size > 0 ? [own] : forks;
  const coming = new Set(askers.flatMap(({ calledBefore: askedBefore, calledNow: askedNow }) => [...askedBefore, ...askedNow]));
  const inside = insideCalls([own, ...forks]);
  // Grows while it is walked.
  for (const key of coming) if (!isServed(key)) for (const inner of inside.get(key) ?? []) coming.add(inner);
  return coming;
}

/** What an invalidation comes to. */
export interface Dropped {
  /** Questions that come up and had an answer to be served. */
  readonly coming: number;
  /** Of those: not any more. */
  readonly again: number;
  /** Dropped answers that are not missed: they don't come up, or another is served. */
  readonly beyond: number;
  /** Questions that come up and had none before. */
  readonly unanswered: number;
}

/** `asker`: one's own memo as it was found, `own`: as this run takes it. */
export function invalidationImpact(
  { keys, borrowedKeys }: Invalidation,
  { asker, own, sources }: { readonly asker: Memo; readonly own: Memo; readonly sources: readonly Memo[] },
): Dropped {
  const [dropped, refused] = [new Set(keys), new Set(borrowedKeys)];
  const isOwn = (key: CallKey): boolean => usableEntry(own, key) !== undefined;
  const isLent = (key: CallKey): boolean => !own.refused.has(key) && sources.some((source) => usableEntry(source, key) !== undefined);
  const isServed = (key: CallKey): boolean => (isOwn(key) && !dropped.has(key)) || (isLent(key) && !refused.has(key));
  const all = predictCalls(asker, sources, isServed);
  const coming = [...all].filter((key) => isOwn(key) || isLent(key));
  const again = coming.filter((key) => !isServed(key)).length;
  const beyond = new Set([...keys, ...borrowedKeys]).size - again;
  return { coming: coming.length, again, beyond, unanswered: all.size - coming.length };
}

/** By the question of the call around them. */
function insideCalls(memos: readonly Memo[]): ReadonlyMap<CallKey, readonly CallKey[]> {
  const inside = new Map<CallKey, CallKey[]>();
  for (const { within } of memos) {
    for (const [key, calls] of within) {
      for (const around of calls) {
        const known = inside.get(around);
        if (known === undefined) inside.set(around, [key]);
        else known.push(key);
      }
    }
  }
  return inside;
}
