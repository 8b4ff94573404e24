/** A guard's refusal on its way to whoever handles it. Instrumentation section 4.4. */
import { MlldError } from '../errors.js';

export interface DenialFacts {
  /** Display form, `@watchman`; null for an unnamed guard. */
  readonly guardName: string | null;
  /** `function:open`, `operation:exe`, `data:secret` */
  readonly guardFilter: string;
  readonly timing: 'before' | 'after';
  readonly reason: string;
  readonly reasons: readonly string[];
  /** The arguments of the denied operation by parameter name. */
  readonly args: readonly { readonly name: string; readonly value: import('../values/value.js').Value }[];
}

export class Denial extends MlldError {
  constructor(readonly facts: DenialFacts) {
    const who = facts.guardName ?? facts.guardFilter;
    super('DENIED', `Guard ${who} denied the operation: ${facts.reason}`, {
      hint: 'handle it with a `denied => …` branch in the function that makes the call',
    });
    this.name = 'Denial';
  }
}
