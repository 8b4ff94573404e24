/** The parts of a call that is executed: what its attempts need, what is recorded of them, and what is known up to now. */
import type { FactOf, Payload, Usage } from '../../../journal/event.js';
import type { CallKey, Seq } from '../../../journal/ids.js';
import type { Attempt, AttemptView } from '../../calls/attempt.js';
import { addAttempt } from '../../calls/usage.js';
import type { Started } from '../../calls/dispatch/ports.js';
import type { Failure, FailureClass } from '../../calls/failure.js';
import type { CallOptions } from '../../calls/options.js';
import type { Frame } from '../../runtime/frame.js';
import type { Body } from '../../runtime/ports.js';
import type { CallView } from '../../runtime/context.js';
import type { DataObject, MeasuredCall, Value } from '../../values/value.js';
import type { CacheableCall } from '../cacheable-call.js';
import type { OwnClaim } from './own-claim.js';

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
  /** Absent where nothing is recorded. */
  readonly key?: CallKey;
  /**
   * Resolves with the number of `call.started` when it is with the kernel; with undefined where it is not recorded. Asks `mayBegin` last
   * of all: where that says no, nothing is recorded, and the attempt must not begin.
   */
  started(view: AttemptView, started: Started | undefined, mayBegin?: () => boolean): Promise<Seq | undefined>;
  failed(fact: Omit<FactOf<'call.failed'>, 'type' | 'key' | 'op'>): Promise<void>;
  /** Absent where nothing is recorded. */
  readonly claim?: OwnClaim;
}

/** The facts about the attempts of a call, for the event that ends it. */
export class CallProgress {
  tries = 0;
  /** The attempts before the last one of the earlier execution whose result the guards judge: this run has none of them. */
  triesBefore = 0;
  isStarted = false;
  /** An attempt has started, and its end is not recorded yet. */
  isOpen = false;
  /** The call failed, and its value is what was printed (`onFailure: "value"`). */
  isPassedOn = false;
  attempt: Attempt | undefined;
  /** The arguments as the journal has them. */
  args: Payload | undefined;
  usage: Usage | undefined;
  /** The usage of all attempts so far. */
  callUsage: Usage | undefined;
  failure: Failure | undefined;
  /** The rules of the schema that the last result broke. */
  problem: readonly string[] | undefined;
  /** The classes of the failed attempts, in their order. */
  readonly classes: FailureClass[] = [];
  /** Declared outputs that a warning has named. */
  readonly missingOutputs = new Set<string>();
  startedMs = 0;
  elapsedMs = 0;
  /** Frees the place of the last attempt and settles what it had reserved; undefined once that is done. */
  private ending: (() => void) | undefined;
  /** The usage of all executions that a guard requested, and the session of the last one. */
  private repeats: MeasuredCall | undefined;

  /** Keeps the end of the last attempt until it is recorded. */
  endsWhenRecorded(ending: () => void): void {
    this.ending = ending;
  }

  /** To be called when the end of the call was handed to the journal: what starts from now on is recorded behind it. */
  isRecorded(): void {
    const { ending } = this;
    this.ending = undefined;
    ending?.();
  }

  /** Takes over the session of the last execution that a guard requested, if one did, and adds what all of these used. */
  takeRepeats({ run, op }: CacheableCall): void {
    this.repeats = run.repeatedInside.get(op);
    const usage = this.repeats?.usage;
    if (usage) this.callUsage = addAttempt(this.callUsage, usage as unknown as Usage);
  }

  /** Returns the costs of the calls inside, as far as they are known, for the event that ends the call. calls.md 10.6. */
  get costsInside(): Pick<FactOf<'call.completed'>, 'insideUsd' | 'insideReusedUsd' | 'repeatedUsd'> {
    const { usd, reusedUsd } = this.attempt?.costsInside ?? {};
    const repeatedUsd = (this.repeats?.usage as Usage | undefined)?.costUsd;
    return {
      ...(usd !== undefined && { insideUsd: usd }),
      ...(reusedUsd !== undefined && { insideReusedUsd: reusedUsd }),
      ...(repeatedUsd !== undefined && { repeatedUsd }),
    };
  }

  /** Returns what hooks and guards see, but for the options of the call. */
  get view(): Omit<CallView, 'lane' | 'model'> {
    const { tries, triesBefore, classes, problem, session, callUsage } = this;
    const attempts = tries + triesBefore;
    const measured = { ...(callUsage && { usage: callUsage as unknown as DataObject }), ...(session !== undefined && { session }) };
    const outcome = this.isPassedOn ? 'failed' : 'completed'; // guards and hooks run before its first attempt, and after its last
    return { ...(attempts > 0 && { outcome }), attempts, class: classes.at(-1), problem, measured };
  }

  get session(): string | undefined {
    return this.repeats ? this.repeats.session : this.attempt?.session;
  }
}
