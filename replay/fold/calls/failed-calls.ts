/**
 * Keeps the calls of a run that failed until they are made again. calls.md 14.1.
 *
 * A call is made again by a later one of its key. Two do not make each other again: calls side by side, because the value of their loop or
 * group has both; and a call inside another one that goes on, because only what is called inside that one can become a part of its result.
 */
import type { CallKey, OpPath } from '../../../journal/ids.js';
import { areSideBySide } from '../../../journal/facts/side-by-side.js';
import { isInside } from '../op-path.js';
import { countEnd, type CallCounts } from './call-counts.js';
import type { EndedCall } from './ended-call.js';

export interface FailedCall {
  readonly op: OpPath;
  end: EndedCall;
  readonly groups: readonly CallCounts[];
  /** The call whose body goes on without it, or whose result was made without it. */
  around: OpPath | undefined;
}

/** Memory is in proportion to the failed calls. */
export interface FailedCalls {
  readonly byKey: Map<CallKey, FailedCall[]>;
  /** Those inside calls that are in flight. */
  readonly inside: Map<OpPath, FailedCall[]>;
}

export function noFailedCalls(): FailedCalls {
  return { byKey: new Map(), inside: new Map() };
}

export function addFailed(state: FailedCalls, key: CallKey, failed: FailedCall): void {
  const others = state.byKey.get(key);
  if (others) others.push(failed);
  else state.byKey.set(key, [failed]);
  putInside(state, failed, failed.around);
}

/** Takes the failed calls of this key out of the counts that the one at `op` makes again. */
export function makeAgain({ byKey }: FailedCalls, { key, op }: { readonly key: CallKey; readonly op: OpPath }): void {
  const failed = byKey.get(key);
  if (!failed) return;
  const left: FailedCall[] = [];
  for (const each of failed) {
    if (areSideBySide(each.op, op) || (each.around !== undefined && !isInside(op, each.around))) left.push(each);
    else countEnd(each.groups, each.end, -1);
  }
  keep(byKey, key, left);
}

/** Takes one failed call out of the counts, because it was an attempt of a call that counts by itself. */
export function forgetFailed({ byKey }: FailedCalls, key: CallKey, failed: FailedCall): void {
  const known = byKey.get(key);
  if (!known?.includes(failed)) return; // it was made again
  keep(
    byKey,
    key,
    known.filter((each) => each !== failed),
  );
  countEnd(failed.groups, failed.end, -1);
}

export function isLeft({ byKey }: FailedCalls, key: CallKey, failed: FailedCall): boolean {
  return byKey.get(key)?.includes(failed) === true;
}

/**
 * Ends the call at `op`. Where it has a result, what failed inside it stays, because the result was made without that. Where it failed, it
 * is to be made again itself, inside of `around` if it lies in a call, and what failed inside it is then made again with it.
 */
export function endAround(
  state: FailedCalls,
  op: OpPath,
  { hasResult, around }: { readonly hasResult: boolean; readonly around: OpPath | undefined },
): void {
  const inside = state.inside.get(op);
  if (inside === undefined) return;
  state.inside.delete(op);
  if (hasResult) return;
  for (const failed of inside) putInside(state, failed, around);
}

function putInside({ inside }: FailedCalls, failed: FailedCall, around: OpPath | undefined): void {
  failed.around = around;
  if (around === undefined) return;
  const others = inside.get(around);
  if (others) others.push(failed);
  else inside.set(around, [failed]);
}

function keep(byKey: FailedCalls['byKey'], key: CallKey, left: FailedCall[]): void {
  if (left.length === 0) byKey.delete(key);
  else byKey.set(key, left);
}
