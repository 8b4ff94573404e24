/** Tells which failures are those of an attempt that its provider turned away: without a usage it cost nothing. calls.md 10.5. */
import type { FailureClass } from './call-event.js';

const TURNED_AWAY: ReadonlySet<string | undefined> = new Set<FailureClass>(['rate-limit', 'overloaded', 'quota', 'auth']);

/** `cause` is a class of failures, or `interrupted`; undefined for an attempt that did not fail. */
export function isTurnedAway(cause: FailureClass | 'interrupted' | undefined): boolean {
  return TURNED_AWAY.has(cause);
}
