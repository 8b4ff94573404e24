/** The classes in which a call fails, and what each of them allows. calls.md 3. */

export type FailureClass =
  'rate-limit' | 'overloaded' | 'network' | 'timeout' | 'bad-reply' | 'content' | 'quota' | 'auth' | 'budget' | 'crash' | 'upstream';

/** The kind of evidence that decided the class, in the order in which it is looked at. calls.md 4. */
export type Evidence = 'report' | 'clock' | 'envelope' | 'text' | 'exit' | 'error' | 'words' | 'none';

/** Why an attempt has no result. */
export interface Failure {
  readonly class: FailureClass;
  readonly evidence: Evidence;
  /** The first line of what the program or provider said; empty when it said nothing. */
  readonly message: string;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
  /** When an allowance is there again, in milliseconds since 1970. */
  readonly resetsAtMs?: number;
  /** The HTTP status. */
  readonly status?: number;
}

interface ClassRule {
  /** As messages and summaries write it. */
  readonly words: string;
  /** Attempts in all where nothing else is configured. */
  readonly attempts: number;
  /** A lane waits for its provider, a call for itself; `none` starts the next attempt at once. */
  readonly wait: 'lane' | 'call' | 'none';
  /** No further attempt of the lane is begun. */
  readonly stopsLane: boolean;
  /** False: no option can allow another attempt. */
  readonly mayRetry: boolean;
}

export const FAILURE_CLASSES: { readonly [C in FailureClass]: ClassRule } = {
  'rate-limit': { words: 'rate limit', attempts: 10, wait: 'lane', stopsLane: false, mayRetry: true },
  overloaded: { words: 'overloaded', attempts: 10, wait: 'lane', stopsLane: false, mayRetry: true },
  network: { words: 'network', attempts: 5, wait: 'call', stopsLane: false, mayRetry: true },
  timeout: { words: 'timeout', attempts: 2, wait: 'call', stopsLane: false, mayRetry: true },
  'bad-reply': { words: 'bad reply', attempts: 1, wait: 'none', stopsLane: false, mayRetry: true },
  content: { words: 'content', attempts: 1, wait: 'call', stopsLane: false, mayRetry: true },
  quota: { words: 'quota', attempts: 1, wait: 'call', stopsLane: true, mayRetry: false },
  auth: { words: 'auth', attempts: 1, wait: 'call', stopsLane: true, mayRetry: false },
  budget: { words: 'budget', attempts: 1, wait: 'call', stopsLane: false, mayRetry: true },
  crash: { words: 'crash', attempts: 1, wait: 'call', stopsLane: false, mayRetry: true },
  upstream: { words: 'upstream', attempts: 1, wait: 'call', stopsLane: false, mayRetry: false },
};
