/** Remembers what the guards of one operation decided, in their order: `@mx.guard.trace`. instrumentation.md 4.4 and 4.7. */
import type { Value } from '../values/value.js';

/** The executions of one operation that `retry` of its guards can make. instrumentation.md 4.5. */
export const GUARD_TRIES = 3;

export interface GuardDecision {
  /** The name without its at sign; null for an unnamed guard. */
  readonly guardName: string | null;
  readonly guardFilter: string;
  readonly timing: 'before' | 'after';
  readonly decision: 'allow' | 'deny' | 'retry';
  readonly reason: string | null;
  readonly hint: string | null;
  /** The value that the guard put in the place of another. */
  readonly replacement: Value;
}

export interface GuardHint {
  readonly guardName: string | null;
  readonly hint: string;
}

/** An execution that ended with a guard's `retry`. */
export interface GuardTry {
  readonly attempt: number;
  readonly decision: 'retry';
  readonly hint: string;
}

/** Is shown as `@mx.guard`. */
export interface GuardContext {
  readonly denied: boolean;
  /** Inside a guard: what the guards before it decided; null for none. */
  readonly decision: GuardDecision['decision'] | null;
  readonly name: string | null;
  readonly reason: string | null;
  readonly reasons: readonly string[];
  readonly hints: readonly GuardHint[];
  readonly trace: readonly GuardDecision[];
  readonly filter: string | null;
  readonly timing: 'before' | 'after' | null;
  readonly try: number;
  /** The attempts before this one. */
  readonly tries: readonly GuardTry[];
  /** The values that the guard looks at. */
  readonly inputs?: readonly Value[];
}

export class GuardTrail {
  private readonly entries: GuardDecision[] = [];
  private readonly replacing = { before: new Set<number>(), after: new Set<number>() };

  /** `began` is told of each trail that follows this one when the operation is executed again. */
  constructor(private readonly began?: (trail: GuardTrail) => void) {
    began?.(this);
  }

  /** Returns the trail of the next execution. */
  again(): GuardTrail {
    return new GuardTrail(this.began);
  }

  add(entry: GuardDecision): void {
    this.entries.push(entry);
  }

  /**
   * Remembers a guard that replaced a value. One that replaced an input of a pipeline's stage, or of code under `var llm`, does not look at
   * the call of that stage, or at the code inside; one that replaced the result of that code does not look at it again.
   */
  addReplacing(guard: number, timing: GuardDecision['timing']): void {
    this.replacing[timing].add(guard);
  }

  hasReplaced(guard: number, timing: GuardDecision['timing']): boolean {
    return this.replacing[timing].has(guard);
  }

  /** A copy, so that who reads it does not see what is decided later. */
  get trace(): readonly GuardDecision[] {
    return [...this.entries];
  }

  /** `deny` beats `retry` beats `allow`; null while no guard has been looked at. */
  get decision(): GuardDecision['decision'] | null {
    const decided = (wanted: GuardDecision['decision']): boolean => this.entries.some(({ decision }) => decision === wanted);
    return decided('deny') ? 'deny' : decided('retry') ? 'retry' : this.entries.length > 0 ? 'allow' : null;
  }

  get reasons(): readonly string[] {
    return this.entries.flatMap(({ decision, reason }) => (decision === 'deny' && reason !== null ? [reason] : []));
  }

  get hints(): readonly GuardHint[] {
    return this.entries.flatMap(({ guardName, hint }) => (hint === null ? [] : [{ guardName, hint }]));
  }
}
