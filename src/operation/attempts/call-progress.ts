/** The parts of a call that is executed: what its attempts need, what is recorded of them, and what is known up to now. */
import type { FactOf, Usage } from '../../../journal/event.js';
import type { Attempt, AttemptView } from '../../calls/attempt.js';
import { addAttempt } from '../../calls/usage.js';
import type { Started } from '../../calls/dispatch/ports.js';
import type { Failure, FailureClass } from '../../calls/failure.js';
import type { CallOptions } from '../../calls/options.js';
import type { Frame } from '../../runtime/frame.js';
import type { Body } from '../../runtime/ports.js';
import type { MeasuredCall, Value } from '../../values/value.js';
import type { CacheableCall } from '../cacheable-call.js';

export interface AttemptParts {
  readonly call: CacheableCall;
  readonly options: CallOptions;
  readonly progress: CallProgress;
  readonly record: AttemptRecord | undefined;
  readonly body: Body;
  readonly frame: Frame;
  readonly inputs: readonly Value[];
}

/** Records the attempts of one call. A call that nothing is recorded of has none. */
export interface AttemptRecord {
  /** Resolves when `call.started` is with the kernel. */
  started(view: AttemptView, started: Started | undefined): Promise<void>;
  failed(fact: Omit<FactOf<'call.failed'>, 'type' | 'key' | 'op'>): Promise<void>;
}

/** The facts about the attempts of a call, for the event that ends it. */
export class CallProgress {
  tries = 0;
  isStarted = false;
  /** An attempt has started, and its end is not recorded yet. */
  isOpen = false;
  /** The call failed, and its value is what was printed (`onFailure: "value"`). */
  isPassedOn = false;
  attempt: Attempt | undefined;
  usage: Usage | undefined;
  /** The usage of all attempts so far. */
  callUsage: Usage | undefined;
  failure: Failure | undefined;
  /** The rules of the schema that the last result broke. */
  problem: readonly string[] | undefined;
  /** The classes of the failed attempts, in their order. */
  readonly classes: FailureClass[] = [];
  startedMs = 0;
  elapsedMs = 0;
  private repeat: { readonly session: string | undefined } | undefined;

  /** Takes over the session of the last execution that a guard requested, whose result the call has, and adds what it used. */
  takeRepeat(accepted: MeasuredCall | undefined): void {
    this.repeat = { session: accepted?.session };
    if (accepted?.usage) this.callUsage = addAttempt(this.callUsage, accepted.usage as unknown as Usage);
  }

  get session(): string | undefined {
    return this.repeat ? this.repeat.session : this.attempt?.session;
  }
}
