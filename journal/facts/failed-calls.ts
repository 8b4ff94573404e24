/**
 * Keeps the calls that failed until they are made again. calls.md 14.1.
 *
 * A call is made again by a later one of its key. Two do not make each other again: calls side by side, because the value of their loop or
 * group has both; and a call inside another one that goes on, because only what is called inside that one can become a part of its result.
 * Where that one is itself executed again, by another attempt or because a guard requested it, what failed in it before is forgotten.
 */
import type { CallKey, OpPath } from '../ids.js';
import { areSideBySide, isInGuardOf, isInside } from './op-relations.js';

export interface PlaceOfFailure {
  readonly key: CallKey;
  readonly op: OpPath;
  /** The call whose body goes on without it, or whose result was made without it. */
  around: OpPath | undefined;
}

/** A result that was made in an earlier run, without this many calls inside, and that is reused. */
export interface IncompleteResult extends PlaceOfFailure {
  readonly calls: number;
}

/** Memory is in proportion to the failed calls. */
export interface FailedCalls<Call extends PlaceOfFailure> {
  readonly byKey: Map<CallKey, Set<Call>>;
  /** Those inside calls that have not ended; of these some may have been made again. */
  readonly inside: Map<OpPath, Call[]>;
}

export function noFailedCalls<Call extends PlaceOfFailure>(): FailedCalls<Call> {
  return { byKey: new Map(), inside: new Map() };
}

export function addFailed<Call extends PlaceOfFailure>(state: FailedCalls<Call>, failed: Call): void {
  const others = state.byKey.get(failed.key);
  if (others) others.add(failed);
  else state.byKey.set(failed.key, new Set([failed]));
  putInside(state, failed, failed.around);
}

/** Takes out, and returns, the failed calls of this key that the one at `op` makes again. */
export function makeAgain<Call extends PlaceOfFailure>(
  state: FailedCalls<Call>,
  { key, op }: { readonly key: CallKey; readonly op: OpPath },
): readonly Call[] {
  const failed = state.byKey.get(key);
  if (!failed) return [];
  const isOut = ({ around }: Call): boolean => around !== undefined && !isInside(op, around);
  const again = [...failed].filter((each) => !isOut(each) && !areSideBySide(each.op, op));
  for (const each of again) takeOut(state, each);
  return again;
}

/** Takes one failed call out. Returns false where it was made again. */
export function takeOut<Call extends PlaceOfFailure>({ byKey }: FailedCalls<Call>, failed: Call): boolean {
  const known = byKey.get(failed.key);
  if (!known?.delete(failed)) return false;
  if (known.size === 0) byKey.delete(failed.key);
  return true;
}

/** Returns false where it was made again. */
export function isLeft<Call extends PlaceOfFailure>({ byKey }: FailedCalls<Call>, failed: Call): boolean {
  return byKey.get(failed.key)?.has(failed) === true;
}

/** Returns the places of the failed calls of this key that are left. */
export function placesLeft<Call extends PlaceOfFailure>({ byKey }: FailedCalls<Call>, key: CallKey): ReadonlySet<OpPath> {
  return new Set([...(byKey.get(key) ?? [])].map(({ op }) => op));
}

/**
 * Returns what failed in the executions of the call at `around` before the one that begins at `op`, which is the same place where it is
 * another attempt. The guards before an execution come first, so that what failed in them belongs to it.
 */
export function failedBefore<Call extends PlaceOfFailure>(
  state: FailedCalls<Call>,
  { op, around }: { readonly op: OpPath; readonly around: OpPath },
): readonly Call[] {
  const inside = state.inside.get(around);
  return inside === undefined ? [] : inside.filter((failed) => !isInGuardOf(failed.op, op) && isLeft(state, failed));
}

/**
 * Ends the call at `op`. Where it has a result, what failed inside it stays, because the result was made without that. Where it failed, it
 * is to be made again itself, inside of `around` if it lies in a call, and what failed inside it is then made again with it.
 */
export function endAround<Call extends PlaceOfFailure>(
  state: FailedCalls<Call>,
  op: OpPath,
  { hasResult, around }: { readonly hasResult: boolean; readonly around: OpPath | undefined },
): void {
  const inside = state.inside.get(op);
  if (inside === undefined) return;
  state.inside.delete(op);
  if (hasResult) return;
  for (const failed of inside) putInside(state, failed, around);
}

function putInside<Call extends PlaceOfFailure>({ inside }: FailedCalls<Call>, failed: Call, around: OpPath | undefined): void {
  failed.around = around;
  if (around === undefined) return;
  const others = inside.get(around);
  if (others) others.push(failed);
  else inside.set(around, [failed]);
}
