/**
 * Recognises the executions of a call that an after-guard requested. Each is made inside the call, as a call with a key of its own, but the
 * call counts once, by how it ends. calls.md 17.
 */
import { isFurtherExecution } from '../../../journal/facts/attempt-number.js';

/** A call in flight. */
export interface CallAround {
  readonly fn: string;
  readonly attempt?: number | undefined;
  /** Its result came back, so that its body makes no call any more. */
  readonly isPriced?: true | undefined;
}

/**
 * `around`: the call in flight in which the other one lies directly. A call that a body makes of its own function has the number of
 * `around`. A reused result has no number.
 */
export function isRequested({ fn, attempt }: { readonly fn: string; readonly attempt?: number }, around: CallAround | undefined): boolean {
  if (around?.fn !== fn) return false;
  return attempt === undefined ? around.isPriced === true : isFurtherExecution(attempt, around.attempt ?? 1);
}
