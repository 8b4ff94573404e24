/** A call as it is offered to workers: data alone, because a worker has none of the files of the project. team-store.md 7.2. */
import type { ExecutingWorker } from '../../../journal/storage/offers.js';
import type { BlobId, CallKey, EventRef, Fingerprint } from '../../../journal/ids.js';
import type { DefinitionPart, EventOf, Payload } from '../../../journal/event.js';
import type { Definition } from '../definitions/definition.js';
import type { Awaitable } from '../awaitable.js';
import type { InsideCall } from '../definitions/reachable-operations.js';
import type { ClaimedCall, ClaimedCallState, Encoded } from './claimed-call.js';

/** Lists all that a function needs beside its sources. Modules are named as `source.loaded` names them. */
export interface DescribedCall {
  /** The module that declares the function, and the script of the run. */
  readonly module: string;
  readonly main: string;
  /** Those that the call has from the variable which its result is for. */
  readonly labels?: readonly string[];
  readonly args: readonly OfferedValue[];
  readonly captured: readonly CapturedVariable[];
  /** Empty where the function names none. */
  readonly lane: string;
  /** Names of what the body reads of the project's files: a worker has none, unless the user says so. */
  readonly readsFiles: boolean;
  readonly inside: InsideCall;
  /** Secrets are among what it needs or returns: offered sealed, and only where workers may have the key. */
  readonly hasSecret: boolean;
  /** All that happens around the call is secret. */
  readonly isSecret?: true;
}

/** The worker labels the value as the run that offers has it, so that the result gets the same labels. */
export interface OfferedValue extends Encoded {
  readonly labels?: readonly string[];
  readonly sources?: readonly string[];
}

export interface CapturedVariable {
  readonly module: string;
  readonly name: string;
  readonly value: OfferedValue;
}

/** Only the run itself can execute the call. */
export interface NotOffered {
  /** Begins behind "because"; undefined where there is nothing to say. */
  readonly because: string | undefined;
}

export interface OfferableCall extends ClaimedCall {
  readonly op: EventOf<'call.offered'>['op'];
  readonly sites: Pick<EventOf<'call.offered'>, 'site' | 'declared'>;
  readonly definition: Definition;
  readonly attempt: number | undefined;
  /** The queue of attempts that the call belongs to. */
  readonly pace: () => Awaitable<string>;
  readonly describe: (() => Promise<DescribedCall | NotOffered>) | undefined;
  /** Runs the guards before the call; absent without any. Returns the call as it is executed where they replaced an argument. */
  readonly passGuards?: (() => Promise<DescribedCall | NotOffered | undefined>) | undefined;
}

export interface OfferedSource {
  readonly path: string;
  readonly blob: BlobId;
  /** The whole text, where the blob has marks in the place of secrets. */
  readonly whole?: Payload;
}

/** Only the run itself knows that a text is a secret, and would hide it. */
export const UNLABELLED = 'a secret that has no label is among what it needs';
/** The reason of a worker. */
export const OTHER_KEY = 'it is sealed with a key that the worker does not have: give both the same MLLD_JOURNAL_KEY';

/** The JSON of an offer. */
export interface OfferedCall extends Omit<DescribedCall, 'args' | 'captured' | 'readsFiles' | 'lane' | 'inside' | 'hasSecret'> {
  readonly fn: string;
  /** A list of `OfferedValue`. */
  readonly args: Payload;
  /** The arguments that the body gets, where guards replaced some. */
  readonly passed?: Payload;
  /** The parts of guards in the definition. A worker has looked at no guard. */
  readonly guards?: readonly DefinitionPart[];
  /** A list of `CapturedVariable`. */
  readonly captured: Payload;
  readonly attempt?: number;
  /** A worker whose function has another one declines the call. */
  readonly fingerprint: Fingerprint;
  readonly sources: readonly OfferedSource[];
  /** The budgets of the project that hold the call back too. */
  readonly budgets?: readonly string[];
  readonly mlld: string;
}

export type OfferedCallState =
  | ClaimedCallState
  /** A worker executed the call, and it failed. */
  | {
      readonly kind: 'failed';
      readonly event: EventOf<'call.failed'>;
      readonly begun: EventRef;
      readonly worker: ExecutingWorker | undefined;
    };

/** Has calls executed by workers. */
export interface CallOffers {
  /** As `CallClaims.claim`, where the run may also wait for a worker. */
  claim(call: OfferableCall, refused: EventRef | undefined): Promise<OfferedCallState>;
  /** Must be called when a call that this run executes has ended. */
  ended(key: CallKey): void;
  /** Takes back the offers of a queue of attempts that was stopped, as far as no worker executes them. */
  stopped(pace: string): Promise<void>;
}
