/** Groups failures by cause: one entry for all that are alike. */
import type { Payload } from '../../../journal/event.js';
import type { OpPath, Seq } from '../../../journal/ids.js';
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
}

const GROUPS_MAX = 200;
export const SAID_UNITS_MAX = 160;

export function countFailure(
  { failures }: FailureGroups,
  what: string,
  message: string,
  where: { readonly op: OpPath; readonly seq: Seq },
  known?: FailureCause,
): void {
  const cause = known ?? causeOf(message);
  tally(failures, [cause, what], { cause, what, message, ...where });
}

/** One entry for all that is alike; what comes beyond `GROUPS_MAX` different ones is not kept apart. */
export function tally<Group extends { count: number }>(
  groups: Map<string, Group>,
  id: readonly (string | undefined)[],
  first: Omit<Group, 'count'>,
): void {
  const name = JSON.stringify(id);
  const known = groups.get(name);
  if (known !== undefined) known.count += 1;
  else if (groups.size < GROUPS_MAX) groups.set(name, { ...first, count: 1 } as unknown as Group);
}

/** Returns the beginning of a text result, as long as a message may be. */
export function beginningOf(result: Payload): string {
  return 'inline' in result && typeof result.inline === 'string' ? result.inline.trim().slice(0, SAID_UNITS_MAX) : '';
}
