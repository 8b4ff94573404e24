/** The state of the constructs around an evaluation: `@mx` shows it to scripts. control.md 25. */
import type { Attempt } from '../calls/attempt.js';
import type { MeasuredCall, Value } from '../values/value.js';
import type { GuardContext, GuardTrail } from './guard-trail.js';
import type { Operation } from './operation.js';

/**
 * Every part describes the innermost construct of its kind. A context always has all its members: a copy with one replaced takes V8 50 ns,
 * a copy with one more takes it several microseconds.
 */
export interface Context {
  readonly op: Operation | undefined;
  readonly for:
    | {
        readonly index: number | null;
        readonly total: number;
        readonly key: string | null;
        readonly parallel: boolean;
        readonly batchIndex: number | null;
        readonly batchSize: number | null;
      }
    | undefined;
  readonly loop: { readonly iteration: number; readonly limit: number | null } | undefined;
  readonly while: { readonly iteration: number; readonly limit: number } | undefined;
  readonly stage: StageContext | undefined;
  readonly guard: GuardContext | undefined;
  /** A denial is being handled, or an after-hook looks at one. */
  readonly denied: boolean;
  readonly args: readonly { readonly name: string; readonly value: Value }[] | undefined;
  readonly checkpoint: { readonly hit: boolean; readonly key: string | null } | undefined;
  /** Inside the hooks and guards of a call: what is known of it. Absent again in its body, where the attempt is known. */
  readonly call: CallSight | undefined;
  /** Inside a hook body: the errors of the hooked operation's hooks so far. */
  readonly hookErrors: readonly Value[] | undefined;
  /** Markers of the latest parallel loop or group. Shared along one line of execution, separate for each concurrent one. */
  readonly errors: { list: readonly Value[] };
  /** `hooks`: inside a hook body. `all`: inside a guard. */
  readonly suppress: 'nothing' | 'hooks' | 'all';
  /** From 2 on inside a stage that runs again. */
  readonly attempt: number;
  /** The default of loops without a setting of their own, inside a parallel loop. */
  readonly parallel: { readonly cap: number; readonly paceMs: number } | undefined;
  /** Lets the others start, inside the first iteration of a parallel loop: an attempt there failed, but not by a crash. */
  readonly release: (() => void) | undefined;
}

/** Around the first statement of a script, and around the body of a hook. */
export const OUTERMOST: Omit<Context, 'errors'> = {
  op: undefined,
  for: undefined,
  loop: undefined,
  while: undefined,
  stage: undefined,
  guard: undefined,
  denied: false,
  args: undefined,
  checkpoint: undefined,
  call: undefined,
  hookErrors: undefined,
  suppress: 'nothing',
  attempt: 1,
  parallel: undefined,
  release: undefined,
};

/** Shows the hooks and guards of a call how far it has come. calls.md 17.2. */
export interface CallSight {
  /** Absent until the options of the call are known. */
  view?: () => CallView;
  /** Returns the attempt that began last; absent as long as `view` is. */
  attempt?: () => Attempt | undefined;
  /** The call was denied, whatever its body did. */
  isDenied?: true;
}

/** Null and absent: not known, or not yet. */
export interface CallView {
  readonly outcome?: 'completed' | 'reused' | 'failed';
  readonly attempts: number;
  readonly class?: string | undefined;
  readonly problem?: readonly string[] | undefined;
  readonly lane?: string | undefined;
  readonly model?: string | undefined;
  readonly measured?: MeasuredCall | undefined;
}

/** The names of the context of the pipeline around. */
export const PIPELINE_NAMES: readonly string[] = ['p', 'pipeline'];

export interface StageContext {
  readonly stage: number;
  readonly isPipeline: boolean;
  /** Undefined in the source. */
  readonly pipeline: Value;
  readonly try: number;
  readonly tries: readonly Value[];
  readonly hint: Value;
  readonly input: Value;
  readonly lastOutput: Value;
  /** Begins the trail of the guards of a stage, which the pipeline remembers. */
  readonly trailFor?: (stage: Operation) => GuardTrail;
}
