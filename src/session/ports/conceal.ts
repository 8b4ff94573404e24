/** What the run tells, with marks in the place of what the run knows to be secret, whatever road they came on. */
import type { Fact } from '../../../journal/event.js';
import type { SourceLocation } from '../../errors.js';
import { concealed, HIDDEN, isSecret, type SecretRegistry } from '../../runtime/secret-registry.js';
import { textOf } from '../../values/text.js';
import type { Value } from '../../values/value.js';
import type { Divergence } from '../rerun/divergence.js';

/** Where a replay left its record, likewise: the request has the values that the code or the command was given. */
export function concealDivergence(divergence: Divergence, secrets: SecretRegistry): Divergence {
  return concealed(divergence, secrets);
}

/**
 * An error as people see it, with all that it was caused by: messages, the hint, and the line of the source that is quoted, in which the
 * secret itself may be written. It is changed and not copied, so that whoever holds it can't show what it was.
 */
export function concealError(error: unknown, secrets: SecretRegistry): void {
  if (secrets.isEmpty) return;
  const seen = new Set<unknown>();
  for (let each = error; each instanceof Error && !seen.has(each); each = each.cause) {
    seen.add(each);
    each.message = secrets.hideParts(each.message);
    if (each.stack !== undefined) each.stack = secrets.hideParts(each.stack);
    const told = each as { location?: SourceLocation | undefined; hint?: string | undefined };
    if (told.location) told.location = { ...told.location, text: secrets.blank(told.location.text) };
    if (typeof told.hint === 'string') told.hint = secrets.hideParts(told.hint);
  }
}

/** A variable as a replay shows it. */
export function concealValue(value: Value, secrets: SecretRegistry): Value {
  if (isSecret(value)) return HIDDEN;
  if (secrets.isEmpty) return value;
  const text = textOf(value);
  return secrets.appearIn(text) ? secrets.redact(text) : value;
}

/** The fact itself when there is nothing to hide. */
export function conceal(fact: Fact, secrets: SecretRegistry): Fact {
  if (secrets.isEmpty) return fact;
  const hide = (text: string): string => secrets.redact(text);
  switch (fact.type) {
    case 'op.started':
      return fact.item === undefined ? fact : { ...fact, item: hide(fact.item) };
    case 'op.finished':
      return fact.message === undefined ? fact : { ...fact, message: hide(fact.message) };
    case 'call.started':
    case 'call.reused':
      return fact.preview === undefined ? fact : { ...fact, preview: hide(fact.preview) };
    case 'call.failed':
      return { ...fact, message: hide(fact.message) };
    case 'effect.performed':
      return { ...fact, subject: hide(fact.subject), ...(fact.error === undefined ? {} : { error: hide(fact.error) }) };
    case 'hook.fired':
      return fact.error === undefined ? fact : { ...fact, error: hide(fact.error) };
    case 'guard.decided':
      return fact.reason === undefined ? fact : { ...fact, reason: hide(fact.reason) };
    case 'checkpoint.reached':
    case 'checkpoint.closed':
      return { ...fact, name: hide(fact.name) };
    case 'definition.recorded':
      return { ...fact, parts: fact.parts.map((part) => (part.preview === undefined ? part : { ...part, preview: hide(part.preview) })) };
    case 'run.finished':
      return fact.error === undefined ? fact : { ...fact, error: { ...fact.error, message: hide(fact.error.message) } };
    case 'node.finished':
      return { ...fact, outcome: { ...fact.outcome, failure_reason: hide(fact.outcome.failure_reason) } };
    case 'retry.scheduled':
      return { ...fact, reason: hide(fact.reason) };
    default:
      return fact;
  }
}
