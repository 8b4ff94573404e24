/** A failure of an attempt: its class, the evidence for it, and what it requests. calls.md 3 and 4. */
import type { FailureEvidence, FailureClass } from '../../journal/facts/call-event.js';

export type { FailureEvidence, FailureClass } from '../../journal/facts/call-event.js';

/** Explains why an attempt has no result. */
export interface Failure {
  readonly class: FailureClass;
  readonly evidence: FailureEvidence;
  /** The first line of what the program or provider said; empty when it said nothing. */
  readonly message: string;
  /** The wait that the provider requests. */
  readonly retryAfterMs?: number;
  /** When an allowance is there again, in milliseconds since 1970. */
  readonly resetsAtMs?: number;
  /** The HTTP status. */
  readonly status?: number;
}

const WORDS: { readonly [C in FailureClass]: string } = {
  'rate-limit': 'rate limit',
  overloaded: 'overloaded',
  network: 'network',
  timeout: 'timeout',
  'bad-reply': 'bad reply',
  content: 'content',
  quota: 'quota',
  auth: 'auth',
  budget: 'budget',
  crash: 'crash',
  upstream: 'upstream',
};

/** Returns the class as messages have it: `rate limit`. */
export function wordsOfClass(failureClass: FailureClass): string {
  return WORDS[failureClass];
}

/** As `wordsOfClass`, for a call that may have ended with its run. */
export function wordsOfCause(cause: FailureClass | 'interrupted'): string {
  return cause === 'interrupted' ? cause : wordsOfClass(cause);
}
