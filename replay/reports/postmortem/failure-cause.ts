/** Guesses the kind of failure from the words of its message: providers and commands say the same things in many ways. */
import type { CallCause } from '../../fold/calls/failure-class.js';

/** The recorded class of a call; of other failures, and in journals of before, what the message says. */
export type FailureCause =
  | CallCause
  | 'denied'
  | 'exit-status'
  /** A mistake in a `js` or `node` body, as its engine words it. */
  | 'code'
  | 'other';

/** The first that fits counts: the message of a command is more precise than its exit status. */
const SIGNS: readonly (readonly [FailureCause, RegExp])[] = [
  ['rate-limit', /\b429\b|rate.?limit|too many requests|overloaded|quota exceeded/i],
  ['timeout', /timed? ?out|time-?out|deadline exceeded|ETIMEDOUT/i],
  ['interrupted', /^(the run was )?(interrupted|called off|aborted)\b|\bSIG(INT|TERM|HUP|KILL)\b/i],
  ['denied', /^(guard|denied)\b|\bdenied by\b/i],
  [
    'code',
    /^(SyntaxError(?!.*JSON)|Cannot (read|set|destructure) propert|Assertion failed|.* is not (a function|a constructor|iterable|defined)$)/i,
  ],
  [
    'bad-reply',
    /(not|in)\s?valid JSON|JSON\.parse|unexpected (token|end of)|\b(can't|cannot|could not) (be )?parsed?\b|malformed|does not match .*schema/i,
  ],
  ['exit-status', /\b(exit(ed)?|ended|failed) with (exit )?(status|code) \d+|\bexit (status|code) \d+/i],
];

export function causeOf(message: string): FailureCause {
  return SIGNS.find(([, sign]) => sign.test(message))?.[0] ?? 'other';
}
