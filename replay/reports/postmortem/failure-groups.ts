/** Groups failures by cause: one entry for all that are alike. */
import type { Payload } from '../../../journal/event.js';
import type { CallKey, OpPath, Seq } from '../../../journal/ids.js';
import { placesLeft, type PlaceOfFailure } from '../../../journal/facts/failed-calls.js';
import { areSideBySide } from '../../../journal/facts/op-relations.js';
import type { CallLedger } from '../../fold/calls/call-ledger.js';
import { causeOf, type FailureCause } from './failure-cause.js';

export interface FailureGroup {
  readonly cause: FailureCause;
  /** The function, or the kind of operation. */
  readonly what: string;
  count: number;
  /** The message of the first one. */
  readonly message: string;
  readonly op: OpPath;
  readonly seq: Seq;
}

export interface HookFailure {
  readonly hook: string;
  readonly timing: 'before' | 'after';
  readonly filter: string;
  readonly error: string;
  count: number;
  readonly op: OpPath;
  readonly seq: Seq;
}

export interface GuardDenial {
  readonly guard: string;
  readonly timing: 'before' | 'after';
  readonly filter: string;
  readonly reason: string | undefined;
  count: number;
  readonly op: OpPath;
  readonly seq: Seq;
}

/** Part of a state that is folded. */
export interface FailureGroups {
  readonly failures: Map<string, FailureGroup>;
  /** The failures of calls that were not made again, and their groups. */
  readonly failedCalls: Map<CallKey, { readonly op: OpPath; readonly group: string }[]>;
  /** The failure of the last attempt of a stage, by the path of its node. */
  readonly failedStages: Map<string, { readonly key: CallKey; readonly group: string }>;
}

const GROUPS_MAX = 200;
export const SAID_UNITS_MAX = 160;

/** Returns the name of the group; `undefined` where it is not kept apart. */
export function countFailure(
  { failures, failedCalls }: FailureGroups,
  what: string,
  message: string,
  { op, seq, key }: { readonly op: OpPath; readonly seq: Seq; readonly key?: CallKey },
  known?: FailureCause,
): string | undefined {
  const cause = known ?? causeOf(message);
  const group = tally(failures, [cause, what], { cause, what, message, op, seq });
  if (key === undefined || group === undefined) return group;
  const groups = failedCalls.get(key);
  if (groups) groups.push({ op, group });
  else failedCalls.set(key, [{ op, group }]);
  return group;
}

/** A call has ended: those of its key that it makes again count no longer, as in the count of calls. COUNTS-2 in `call-ledger.ts` */
export function forgetMadeAgain(
  { failures, failedCalls }: FailureGroups,
  { key, op }: { readonly key: CallKey; readonly op: OpPath },
  ledger: CallLedger['failures'],
): void {
  const known = failedCalls.get(key);
  if (known === undefined) return;
  const counted = placesLeft(ledger, key);
  const left = known.filter(({ op: other, group }) => {
    const isLeft = counted.has(other) || areSideBySide(other, op);
    if (!isLeft) forgetFailure(failures, group);
    return isLeft;
  });
  failedCalls.set(key, left);
}

/** Takes out failures in an execution of a call that a further one follows. COUNTS-2 in `call-ledger.ts` */
export function forgetInExecutionBefore({ failures, failedCalls }: FailureGroups, failed: readonly PlaceOfFailure[]): void {
  for (const { key, op } of failed) {
    const groups = failedCalls.get(key);
    const at = groups?.findIndex((each) => each.op === op) ?? -1;
    for (const { group } of groups?.splice(at, at < 0 ? 0 : 1) ?? []) forgetFailure(failures, group);
  }
}

/** Takes out the failure of the attempt before: where a stage is tried again, its calls are the attempts of one. calls.md 14.1 */
export function forgetAttemptBefore({ failures, failedCalls, failedStages }: FailureGroups, stage: string): void {
  const before = failedStages.get(stage);
  if (before === undefined) return;
  failedStages.delete(stage);
  const groups = failedCalls.get(before.key);
  const at = groups?.findIndex(({ group }) => group === before.group) ?? -1;
  if (at < 0) return; // another call of its key has a result by now
  groups?.splice(at, 1);
  forgetFailure(failures, before.group);
}

/** Takes one failure out of the group of this name. */
export function forgetFailure(failures: Map<string, FailureGroup>, name: string): void {
  const group = failures.get(name);
  if (group === undefined) return;
  group.count -= 1;
  if (group.count === 0) failures.delete(name);
}

/** Returns the name of the group. One entry for all that is alike; what comes beyond `GROUPS_MAX` different ones is not kept apart. */
export function tally<Group extends { count: number }>(
  groups: Map<string, Group>,
  id: readonly (string | undefined)[],
  first: Omit<Group, 'count'>,
): string | undefined {
  const name = JSON.stringify(id);
  const known = groups.get(name);
  if (known !== undefined) known.count += 1;
  else if (groups.size < GROUPS_MAX) groups.set(name, { ...first, count: 1 } as unknown as Group);
  else return undefined;
  return name;
}

/** Returns the beginning of a text result, as long as a message may be. */
export function beginningOf(result: Payload): string {
  return 'inline' in result && typeof result.inline === 'string' ? result.inline.trim().slice(0, SAID_UNITS_MAX) : '';
}
