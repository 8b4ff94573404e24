/** The error of a call that failed, and what is known about the failure. calls.md 5. */
import type { OpPath } from '../../../journal/ids.js';
import { wordsOfClass, type Failure, type FailureClass } from '../../calls/failure.js';
import { MlldError } from '../../errors.js';
import type { CollectedFailures } from '../../values/failures.js';
import { errorMarker, type MarkedPlace } from '../../values/kinds/marker.js';
import { shortened } from '../../values/shortened.js';
import type { DataObject, FailedCall } from '../../values/value.js';

export interface CallFailureFacts {
  readonly fn: string;
  readonly op: OpPath;
  readonly class: FailureClass;
  readonly attempts: number;
  /** Begins with the class in words. */
  readonly message: string;
  /** The beginning of the first argument. */
  readonly item: string;
  readonly retryAfterMs?: number;
  /** Milliseconds since 1970. */
  readonly resetsAtMs?: number;
}

/** The most of what a provider said that markers and their texts hold. */
const SAID_UNITS = 200;

const FACTS = new WeakMap<Error, CallFailureFacts>();

/** Declares that the error is the failure of a call. An error keeps the facts of the innermost call. */
export function markCallFailure<E extends Error>(error: E, facts: CallFailureFacts): E {
  if (!FACTS.has(error)) FACTS.set(error, facts);
  return error;
}

/** Undefined for an error that is no call's. */
export function callFailureOf(error: unknown): CallFailureFacts | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const facts = FACTS.get(cause);
    if (facts) return facts;
  }
  return undefined;
}

/** Returns the failed call as scripts see it; undefined for an error that is no call's. */
export function failedCallOf(error: unknown): FailedCall | undefined {
  const facts = callFailureOf(error);
  if (!facts) return undefined;
  const { fn, op, class: failureClass, attempts, message, item, retryAfterMs, resetsAtMs } = facts;
  const [firstLine = ''] = message.split('\n');
  const resetsAt = resetsAtMs === undefined ? undefined : new Date(resetsAtMs).toISOString();
  return { fn, op, class: failureClass, attempts, message: shortened(firstLine, SAID_UNITS), item, retryAfterMs, resetsAt };
}

/** Returns the marker that takes the place of what failed. */
export function markerOf(error: unknown, place: MarkedPlace, failures: CollectedFailures): DataObject {
  const call = failedCallOf(error);
  if (call) failures.begin();
  return errorMarker({ ...place, message: call?.message ?? (error as Error).message, call });
}

/** Ends the body of an attempt that has no result. Only the attempt sees it. */
export class AttemptFailed extends MlldError {
  constructor(
    readonly failure: Failure,
    details: { readonly cause?: unknown } = {},
  ) {
    super('CALL_FAILED', failureMessage(failure), details);
    this.name = 'AttemptFailed';
  }
}

/** Names a failed call with its failure: `@review("page 3"), rate limit: 429 Too Many Requests`. */
export function namedFailure({ fn, item, message }: Pick<FailedCall, 'fn' | 'item' | 'message'>): string {
  return `@${fn}(${item === '' ? '' : JSON.stringify(item)}), ${message}`;
}

/** `rate limit: 429 Too Many Requests` */
export function failureMessage({ class: failureClass, message }: Pick<Failure, 'class' | 'message'>): string {
  const words = wordsOfClass(failureClass);
  return message === '' ? words : `${words}: ${message}`;
}
