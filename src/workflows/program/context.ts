/** Declares what a program of the library gets to work with. workflows-js.md 15. */
import type { Json } from '../../../journal/event.js';
import type { FailureClass } from '../../../journal/facts/call-event.js';
import type { ReportedUsage } from '../../calls/replies/reply.js';
import { MlldError } from '../../errors.js';
import type { AgentOptions } from '../run/agent-options.js';
import type { JsonLike, JsonLikeOrVoid } from './json-like.js';

/** Options of `ctx.llm` and `ctx.step`. */
export interface StepOptions {
  /** Identifies the call in the place of its arguments. */
  readonly key?: readonly Json[];
  /** A name for people. */
  readonly label?: string;
  /** The result is sealed in the record, and hidden in messages. */
  readonly secret?: boolean;
  readonly timeoutMs?: number;
  /** Repeats after every failure; by default a call repeats only what a provider turned away, and a step nothing. */
  readonly retries?: number;
  /** Files that the call writes, relative to the project: a result whose files were changed since is not reused. */
  readonly writes?: readonly string[];
}

/** The record of a durable program. Its functions may be taken out of it: `const { llm, step } = ctx`. */
export interface Context {
  /** Returns the recorded result of this name and these arguments, or calls `ask` with them and records what it returns. */
  llm<A extends readonly Json[] | [], R extends Json>(
    name: string,
    args: A,
    ask: (...args: NoInfer<A>) => Promise<R> | R,
    options?: StepOptions,
  ): Promise<R>;
  /** The same for data that interfaces declare. */
  llm<A extends readonly unknown[] | [], R>(
    name: string,
    args: A & JsonLike<A>,
    ask: (...args: NoInfer<A>) => Promise<R & JsonLike<R>> | (R & JsonLike<R>),
    options?: StepOptions,
  ): Promise<R>;
  /**
   * Asks an agent of the backend of the run. Throws AgentError for one that fails. R is the type of what fits `schema`, which the compiler
   * can't see.
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller says what its schema lets through
  agent<R = Json>(prompt: string, options?: AgentOptions): Promise<NoInfer<R>>;
  /** Does something to the world once per work. A crash between deed and record does it again: hand `ctx.key` to whom it concerns. */
  step<R extends Json | void>(name: string, args: readonly Json[], act: () => Promise<R> | R, options?: StepOptions): Promise<R>;
  /** The same for data that interfaces declare. */
  step<A extends readonly unknown[] | [], R>(
    name: string,
    args: A & JsonLike<A>,
    act: () => Promise<R & JsonLikeOrVoid<R>> | (R & JsonLikeOrVoid<R>),
    options?: StepOptions,
  ): Promise<R>;
  /** Calls `each` for all items, at most `limit` at once; waits for all, then throws the first error in the order of the items. */
  parallel<T, R>(
    items: readonly T[],
    each: (item: T, index: number) => Promise<R> | R,
    options?: { readonly limit?: number },
  ): Promise<R[]>;
  /** Names a point of the program, for `resume`. */
  checkpoint(name: string, options?: { readonly resume?: 'auto' | 'manual' | 'never'; readonly ttlMs?: number }): Promise<void>;
  /** Waits for milliseconds, a duration such as `1h`, or until a time. A resumed run waits for what is left. */
  sleep(time: number | string | Date): Promise<void>;
  /** The time of the work, which a resumed run takes over: milliseconds since 1970. */
  now(): number;
  /** From 0 up to 1, the same in a resumed run. Not for secrets. */
  random(): number;
  uuid(): string;
  /** Writes a line to standard error. */
  log(...values: readonly unknown[]): void;
  /** Inside `ask` and `act`: reports what the call used. */
  usage(used: ReportedUsage): void;
  /** Inside `ask` and `act`: the key of the call, the same in every attempt. */
  readonly key: string;
  /** Aborted when the run, or the attempt around, must stop. */
  readonly signal: AbortSignal;
}

/** An agent gave no result. */
export class AgentError extends MlldError {
  constructor(
    readonly agent: string,
    /** `denied`: by a guard. */
    readonly failureClass: FailureClass | 'denied',
    message: string,
  ) {
    super('CALL_FAILED', `the agent ${JSON.stringify(agent)} failed: ${message}`);
    this.name = 'AgentError';
  }

  /** The class of the failure. */
  get class(): FailureClass | 'denied' {
    return this.failureClass;
  }
}
