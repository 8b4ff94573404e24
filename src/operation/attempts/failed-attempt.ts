/** Makes the error of a call that failed, and the facts about a failed attempt. calls.md 5, 6.6, 16 and 20. */
import type { FactOf } from '../../../journal/event.js';
import { wordsOfClass, type Failure, type FailureClass } from '../../calls/failure.js';
import { MlldError, type SourceLocation } from '../../errors.js';
import { failureMessage, markCallFailure, type CallFailureFacts } from '../../runtime/calls/call-failure.js';
import { WITHHELD, type SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import type { Value } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { CallProgress } from './call-progress.js';
import type { CacheableCall } from '../cacheable-call.js';

const ITEM_UNITS = 60;

interface FailedAttempt {
  readonly failure: Failure;
  readonly error?: unknown;
  /** Is in the body. */
  readonly place?: SourceLocation | undefined;
}

/** Returns the error that ends the call: that of its body where that has a place in the script and decides nothing, else one of its own. */
export function callError({ failure, error, place }: FailedAttempt, facts: CallFailureFacts): Error {
  const isOwn = failure.class === 'crash' && failure.evidence === 'none' && facts.attempts === 1;
  if (isOwn && error instanceof Error) return markCallFailure(error, facts);
  return markCallFailure(
    new MlldError('CALL_FAILED', messageOfCall(facts), {
      location: place,
      cause: error,
      hint: error instanceof MlldError ? error.hint : undefined,
    }),
    facts,
  );
}

/** `@review("Entry 3") failed: rate limit: slow down (3 attempts)` */
export function messageOfCall({ fn, item, message, attempts }: CallFailureFacts): string {
  const times = attempts === 1 ? '' : ` (${attempts} attempts)`;
  return `@${fn}(${item === '' ? '' : JSON.stringify(item)}) failed: ${message}${times}`;
}

/** Describes a failed call for its error; `classes` are those of all its attempts. */
export function factsOfFailure(
  failure: Failure,
  {
    call: { op, llm },
    inputs,
    attempts,
    classes,
  }: {
    readonly call: Pick<CacheableCall, 'op' | 'llm'>;
    readonly inputs: readonly Value[];
    readonly attempts: number;
    readonly classes: readonly FailureClass[];
  },
): CallFailureFacts {
  return withoutUndefined<CallFailureFacts>({
    fn: llm.fn,
    op: op.path,
    class: failure.class,
    attempts,
    item: itemOf(inputs),
    message: messageOfFailure(failure, { classes }),
    retryAfterMs: failure.retryAfterMs,
    resetsAtMs: failure.resetsAtMs,
  });
}

/** Returns the beginning of the first argument, by which people know a call. */
export function itemOf([first]: readonly Value[]): string {
  return first === undefined || first === null ? '' : shortened(textOf(first), ITEM_UNITS);
}

/** `rate limit, then crash: exit status 3`, where the attempts before failed in another class. */
export function messageOfFailure(failure: Failure, { classes }: { readonly classes: readonly FailureClass[] }): string {
  const others = [...new Set(classes)].filter((each) => each !== failure.class);
  const message = failureMessage(failure);
  return others.length === 0 ? message : `${others.map(wordsOfClass).join(', then ')}, then ${message}`;
}

type FailedFacts = Omit<FactOf<'call.failed'>, 'type' | 'key' | 'op'>;

/** Returns the fact without what a call with a secret in it said: that may be made of the secret, which the class is not. SECRET-2 */
export function withoutMessage(failed: FailedFacts): FailedFacts {
  const { problem: _, ...fact } = failed;
  return { ...fact, message: fact.class === undefined ? WITHHELD : failureMessage({ class: fact.class, message: WITHHELD }) };
}

/** Returns the members of `call.failed` that say how the attempt failed. */
export function failedFacts(
  failure: Failure,
  { attempt, elapsedMs, usage, tries, problem }: CallProgress,
  secrets: Pick<SecretRegistry, 'redact'>,
): FailedFacts {
  const { class: failureClass, evidence, message, retryAfterMs, resetsAtMs, status } = failure;
  return withoutUndefined<FailedFacts>({
    message: secrets.redact(message),
    elapsedMs,
    class: failureClass,
    evidence,
    try: tries > 1 ? tries : undefined,
    retryAfterMs,
    resetsAt: resetsAtMs === undefined ? undefined : new Date(resetsAtMs).toISOString(),
    status,
    exitCode: attempt?.exitCode,
    usage,
    onlyCalls: attempt?.onlyCalls ? true : undefined,
    reply: attempt?.reply && attempt.reply.adapter !== 'text' ? { adapter: attempt.reply.adapter } : undefined,
    session: attempt?.session === undefined ? undefined : secrets.redact(attempt.session),
    problem: problem?.map((rule) => secrets.redact(rule)),
  });
}
