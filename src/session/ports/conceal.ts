/** Replaces what a run knows to be secret by marks, in everything that it records or shows. */
import type { Fact } from '../../../journal/event.js';
import type { SourceLocation } from '../../errors.js';
import { concealed, HIDDEN, isSecret, type SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { textOf } from '../../values/text.js';
import type { Value } from '../../values/value.js';
import type { Divergence } from '../rerun/divergence.js';

/** The request of a divergence holds the arguments of code and commands, which may be secret. */
export function concealDivergence(divergence: Divergence, secrets: SecretRegistry): Divergence {
  return concealed(divergence, secrets);
}

/**
 * Removes secrets from an error and its causes: from messages, hints and the quoted line of the source, in which the secret itself may be
 * written. Changes the error instead of copying it, so that no other reference to it can show the secret.
 */
export function concealError(error: unknown, secrets: SecretRegistry): void {
  if (secrets.isEmpty) return;
  const seen = new Set<unknown>();
  for (let each = error; each instanceof Error && !seen.has(each); each = each.cause) {
    seen.add(each);
    each.message = secrets.hideParts(each.message);
    if (each.stack !== undefined) each.stack = secrets.hideParts(each.stack);
    const shown = each as { location?: SourceLocation | undefined; hint?: string | undefined };
    if (shown.location) shown.location = { ...shown.location, text: secrets.blank(shown.location.text) };
    if (typeof shown.hint === 'string') shown.hint = secrets.hideParts(shown.hint);
  }
}

/** Returns a variable as a replay may show it. */
export function concealValue(value: Value, secrets: SecretRegistry): Value {
  if (isSecret(value)) return HIDDEN;
  if (secrets.isEmpty) return value;
  const text = textOf(value);
  return secrets.appearIn(text) ? secrets.redact(text) : value;
}

/** Returns the fact itself if there is nothing to hide. */
export function concealFact(fact: Fact, secrets: SecretRegistry): Fact {
  if (secrets.isEmpty) return fact;
  const hide = (text: string): string => secrets.redact(text);
  const hideParts = (text: string): string => secrets.hideParts(text); // in what errors say
  switch (fact.type) {
    case 'op.started':
      return fact.item === undefined ? fact : { ...fact, item: hide(fact.item) };
    case 'op.finished':
      return fact.message === undefined ? fact : { ...fact, message: hideParts(fact.message) };
    case 'call.started':
    case 'call.reused':
      return fact.preview === undefined ? fact : { ...fact, preview: hide(fact.preview) };
    case 'call.failed':
      return { ...fact, message: hideParts(fact.message) };
    // The name of a lane may be made of arguments, and the reason of a stop is what a provider said. calls.md 16.3.
    case 'lane.changed':
    case 'dispatch.resumed':
      return { ...fact, lane: hide(fact.lane) };
    case 'dispatch.stopped':
      return { ...fact, ...(fact.lane !== undefined && { lane: hide(fact.lane) }), message: hideParts(fact.message) };
    case 'effect.performed':
      return { ...fact, subject: hide(fact.subject), ...(fact.error === undefined ? {} : { error: hideParts(fact.error) }) };
    case 'hook.fired':
      return fact.error === undefined ? fact : { ...fact, error: hideParts(fact.error) };
    case 'guard.decided':
      return fact.reason === undefined ? fact : { ...fact, reason: hide(fact.reason) };
    case 'checkpoint.reached':
    case 'checkpoint.closed':
      return { ...fact, name: hide(fact.name) };
    case 'definition.recorded':
      return { ...fact, parts: fact.parts.map((part) => (part.preview === undefined ? part : { ...part, preview: hide(part.preview) })) };
    case 'run.finished':
      return fact.error === undefined ? fact : { ...fact, error: { ...fact.error, message: hideParts(fact.error.message) } };
    case 'node.finished':
      return { ...fact, outcome: { ...fact.outcome, failure_reason: hideParts(fact.outcome.failure_reason) } };
    case 'retry.scheduled':
      return { ...fact, reason: hideParts(fact.reason) };
    default:
      return fact;
  }
}
