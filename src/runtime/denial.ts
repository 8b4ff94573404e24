/** A guard's refusal: it travels as an error to the `denied` branch that handles it. instrumentation.md 4.4. */
import { MlldError } from '../errors.js';
import type { DataObject, Value } from '../values/value.js';
import type { GuardContext, GuardDecision, GuardHint, GuardTry } from './guard-trail.js';

export interface DenialFacts {
  /** Display form, `@watchman`; null for an unnamed guard. */
  readonly guardName: string | null;
  /** `function:open`, `operation:exe`, `data:secret` */
  readonly guardFilter: string;
  readonly timing: 'before' | 'after';
  /** `retry`: a guard requested another attempt where there is none. */
  readonly decision: 'deny' | 'retry';
  readonly reason: string;
  readonly reasons: readonly string[];
  /** The attempts before the one that was denied. */
  readonly tries: readonly GuardTry[];
  readonly hints: readonly GuardHint[];
  readonly trace: readonly GuardDecision[];
  /** The arguments of the denied operation by parameter name. */
  readonly args: readonly { readonly name: string; readonly value: Value }[];
}

export class Denial extends MlldError {
  constructor(readonly facts: DenialFacts) {
    const guard = facts.guardName ?? facts.guardFilter;
    super('DENIED', `Guard ${guard} denied the operation: ${facts.reason}`, {
      hint: 'handle it with a `denied => …` branch in the function that makes the call',
    });
    this.name = 'Denial';
  }
}

/** `@mx.guard` for a denied branch and for hooks of the denied operation. */
export function denialContext({ guardName, guardFilter, ...facts }: DenialFacts): GuardContext {
  return { ...facts, denied: true, name: guardName?.slice(1) ?? null, filter: guardFilter, try: facts.tries.length + 1 };
}

/** The output that hooks see of an operation that did not happen. */
export function denialObject({ decision, reason, guardName, guardFilter }: DenialFacts): DataObject {
  return { denied: true, decision, reason, guardName, guardFilter };
}
