/** Names the class in which a call failed, also for journals of before, which have only its message. calls.md 16.2. */
import type { EventOf } from '../../../journal/event.js';
import type { FailureClass, Usage } from '../../../journal/facts/call-event.js';
import { isTurnedAway } from '../../../journal/facts/turned-away.js';

/** `interrupted`: the run had to stop while an attempt was in flight. */
export type CallCause = FailureClass | 'interrupted';

export function causeOfCall({ class: recorded, code, message }: Pick<EventOf<'call.failed'>, 'class' | 'code' | 'message'>): CallCause {
  if (recorded !== undefined) return recorded;
  if (code === 'INTERRUPTED') return 'interrupted';
  return SIGNS.find(([, sign]) => sign.test(message))?.[0] ?? 'crash';
}

/** Guesses for reports, never for decisions: providers and commands word the same things in many ways. */
const SIGNS: readonly (readonly [CallCause, RegExp])[] = [
  ['overloaded', /\boverloaded\b|\b(529|503|502)\b/i],
  ['rate-limit', /\b429\b|rate.?limit|too many requests/i],
  ['quota', /quota exceeded|usage limit reached/i],
  ['timeout', /timed? ?out|time-?out|deadline exceeded|ETIMEDOUT/i],
  ['interrupted', /^(the run was )?(interrupted|called off|aborted)\b|\bSIG(INT|TERM|HUP|KILL)\b/i],
  [
    'bad-reply',
    /(not|in)\s?valid JSON|JSON\.parse|unexpected (token|end of)|\b(can't|cannot|could not) (be )?parsed?\b|malformed|does not match .*schema/i,
  ],
];

interface CostOfAttempt {
  readonly usage?: Usage | undefined;
  readonly onlyCalls?: true | undefined;
  readonly cause?: CallCause | undefined;
}

/**
 * Returns whether an attempt has no known cost. Attempts that a provider turned away without a usage cost nothing, and neither do those
 * that only made calls. calls.md 10.5.
 */
export function isUnpriced({ usage, onlyCalls, cause }: CostOfAttempt): boolean {
  if (usage !== undefined) return usage.costUsd === undefined;
  if (onlyCalls) return false;
  return !isTurnedAway(cause);
}

// Journals of before have these in the text alone.
const FAILED_COMMAND = /^its command ended with status \d+$/;
const OWN_DENIED_BRANCH = 'the value of its own denied branch';

/** Returns the reason for which a call with a value counts as failed; undefined for a call that executed. */
export function flawOf(
  event: Pick<EventOf<'call.completed'>, 'class' | 'exitCode' | 'denied' | 'unusable'>,
): 'command' | 'denied' | undefined {
  const { exitCode, denied, unusable } = event;
  if (denied === true || unusable === OWN_DENIED_BRANCH) return 'denied';
  const hasFailed = event.class !== undefined || exitCode !== undefined || (unusable !== undefined && FAILED_COMMAND.test(unusable));
  return hasFailed ? 'command' : undefined;
}
