/** The facts about an operation that the journal, hooks, guards and `@mx` see. design.md 2. How a call is executed is in `llm-call.ts`. */
import type { OpKind } from '../../journal/event.js';
import type { Attempt } from '../calls/attempt.js';
import type { MeasuredCall, Value } from '../values/value.js';
import type { Denial } from './denial.js';
import type { GuardTrail, GuardTry } from './guard-trail.js';

export interface Operation {
  readonly kind: OpKind;
  /** `@mx.op.subtype`: the language of a `run` statement, the function of a pipeline's stage. */
  readonly subtype?: string;
  /** Name in the path; usually the name, else the kind. */
  readonly segment: string;
  readonly name: string | null;
  /** The phase of a workflow script. */
  readonly group?: string;
  readonly labels: readonly string[];
  readonly inputs: readonly Value[];
  /** The pieces of the one input of an effect, where its operand is a template. */
  readonly pieces?: readonly TextPiece[] | undefined;
  readonly target?: string;
  /** The labelled values in the path that it writes to, or that its command runs in: guards look at them, and can't replace them. */
  readonly path?: readonly Value[];
  readonly call?: CallFacts;
  /** Present on a call that carries the label `llm` directly. */
  readonly llm?: LlmFacts | undefined;
  /** Loops: number of items. */
  readonly total?: number;
  /** Iterations: their number, which is in the path instead of an ordinal. */
  readonly index?: number;
  /** Visits and attempts of graph nodes: the ordinal in the path, where it isn't that of the order of execution. */
  readonly ordinal?: number;
  /** The guards that are switched off for it. */
  readonly guards?: GuardSwitch;
  /** Present on an operation that an after-guard made run again. */
  readonly repeat?: GuardRepeat | undefined;
  /** Collects what its guards decide, where something else looks at it, too. */
  readonly trail?: GuardTrail;
}

/** An execution of an operation that follows on a guard's `retry`. */
export interface GuardRepeat {
  /** Hooks see it as an operation of its own; others run once, around all executions. */
  readonly isHooked?: true;
  /** The executions before this one. */
  readonly tries: readonly GuardTry[];
  /** The last attempt of the first execution: a later hit saves what the executions after it cost, too. Absent where no call is guarded. */
  readonly first?: Attempt | undefined;
  /** Reports a denial of this execution, which is one of the whole operation. */
  readonly denied: (denial: Denial) => void;
  /** Reports what this execution used, where it ends without a result. Absent where no call is guarded. */
  readonly withoutResult?: (used: MeasuredCall | undefined) => void;
}

/** The command line of a `cmd`, with the values in it. */
export interface CommandLine {
  /** Is for people (COMMAND-2 in `command-line.ts`). */
  readonly text: string;
  /** Is for the shell (COMMAND-1); absent for a command without values. */
  readonly executed?: string;
  readonly used: readonly Value[];
  /** Is set where a guard put this command in the place of the script's. */
  readonly isReplaced?: true;
}

/** The folder in which a command or code runs, with the values in its path that carry labels. */
export interface WorkingDirectory {
  readonly directory: string;
  readonly labelled: readonly Value[];
}

/** A part of a text: fixed, or a value that was put in. */
export type TextPiece = string | { readonly value: Value };

/** The facts that only the call of a function has. */
export interface CallFacts {
  /** Name at the declaration. */
  readonly declared: string;
  /** Names under which it was called: `['excavate']`, through a namespace `['dig', 'mine.dig']`. */
  readonly called: readonly string[];
  readonly params: readonly string[];
  /** The language of a body that is code: guards filter by it. */
  readonly language?: string | undefined;
  /**
   * `file:line:column` of the call; undefined where no code of the user made it. A function, because the place is worked out only for what
   * is recorded.
   */
  readonly site: () => string | undefined;
  readonly declaredAt: () => string;
  /** The call is a stage of a pipeline whose source can run again, so that a guard's `retry` has an effect. */
  readonly repeatable: boolean;
}

/** `with { guards: … }` */
export type GuardSwitch = { readonly off: true } | { readonly only: readonly string[] } | { readonly except: readonly string[] };

/** The facts about a call from which the labels of its result follow. */
export interface LlmFacts {
  /** The result is the output of one command: when that failed, the result is recorded and never reused. */
  readonly isCommand: boolean;
  /** Labels and source markers that a fresh result carries beyond those of the arguments. */
  readonly labels: readonly string[];
  readonly sources: readonly string[];
}
