/** The classes in which a call fails, and what each of them allows. calls.md 3. */

export type FailureClass =
  'rate-limit' | 'overloaded' | 'network' | 'timeout' | 'bad-reply' | 'content' | 'quota' | 'auth' | 'budget' | 'crash' | 'upstream';

/** The kind of evidence that decided the class, in the order in which it is looked at. calls.md 4. */
export type Evidence = 'report' | 'clock' | 'envelope' | 'text' | 'exit' | 'error' | 'words' | 'none';

/** Explains why an attempt has no result. */
export interface Failure {
  readonly class: FailureClass;
  readonly evidence: Evidence;
  /** The first line of what the program or provider said; empty when it said nothing. */
  readonly message: string;
  /** The wait that the provider requests. */
  readonly retryAfterMs?: number;
  /** When an allowance is there again, in milliseconds since 1970. */
  readonly resetsAtMs?: number;
  /** The HTTP status. */
  readonly status?: number;
}
