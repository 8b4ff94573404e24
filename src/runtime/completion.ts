/** The ends of a statement after which the next one does not run, and the results of bodies. control.md 2, 14 to 18. */
import type { Value } from '../values/value.js';

/** `=> V` reached in a block: it leaves the function, the iteration or the script, whichever is nearest. */
export class Return {
  constructor(
    readonly value: Value,
    /** False for a bare `=>`. */
    readonly hasValue = true,
  ) {}
}

/** A control word on its way to the loop, stage or pipeline that it is meant for. It travels as a completion or as a value. */
export class Signal {
  constructor(
    readonly word: 'done' | 'continue' | 'skip' | 'retry',
    readonly value: Value,
    /** `done` without a value differs from `done null`. */
    readonly hasValue: boolean,
  ) {}
}

/** Undefined: the next statement runs. */
export type Completion = Return | Signal | undefined;

/** The result of an action, of a function body or of an operation. */
export type Outcome = Value | Signal;

/** Returns the value that leaves an operation: that of a control word is the one it carries, undefined for a bare word. */
export function valueIn(outcome: Outcome): Value {
  if (!(outcome instanceof Signal)) return outcome;
  return outcome.hasValue ? outcome.value : undefined;
}
