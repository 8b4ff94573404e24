/** Declares how a run offers calls to workers, and hears of them. team-store.md 7. */
import type { CallKey, EventRef } from '../ids.js';
import type { RecordedResult } from './claims.js';
import type { HintWatch } from './hints.js';

export interface OfferRequest {
  readonly key: CallKey;
  /** Empty for workers without a lane of that name. */
  readonly lane: string;
  /** All that a worker needs to execute the call, as JSON. */
  readonly call: string;
  /** The recorded result that the run does not reuse. */
  readonly refused?: EventRef | undefined;
}

/** A worker that has executed a call for a run. */
export interface ExecutingWorker {
  readonly name: string;
  /** The name of its machine. */
  readonly host: string;
}

/** Calls of a run that workers execute now. */
export interface CallsAtWorkers {
  readonly calls: number;
  readonly workers: number;
}

export interface OfferedResult {
  readonly kind: 'answered';
  readonly by: RecordedResult;
  /** The one that executed the call for this run. */
  readonly worker: ExecutingWorker | undefined;
}

export type OfferOutcome =
  | OfferedResult
  /** `by` is the end of the call: its result, or what says that it failed. */
  | { readonly kind: 'ended'; readonly by: RecordedResult; readonly worker: ExecutingWorker | undefined }
  /** No worker that looked at it can execute it. */
  | { readonly kind: 'declined'; readonly worker: string; readonly why: string };

/** The workers that are alive, as far as they have taken a call lately. */
export interface LivingWorkers {
  /** The number of runs of workers. */
  readonly alive: number;
  /** Names of lanes that one of them has slots for. */
  readonly lanes: ReadonlySet<string>;
}

/** The offers of one run. */
export interface Offers {
  /** Returns a result that is there already and was not refused; undefined when the call is offered. Rejects as `Claims.claim` does. */
  offer(request: OfferRequest): Promise<OfferedResult | undefined>;
  /** Returns outcomes of offers that the store knows without a search. Some are found by `collectAll` only. */
  collect(): Promise<ReadonlyMap<CallKey, OfferOutcome>>;
  /** Returns what became of the offers, and how many there are. Its price grows with their number. */
  collectAll(): Promise<{ readonly outcomes: ReadonlyMap<CallKey, OfferOutcome>; readonly count: number }>;
  /** Returns what workers execute of the run now. */
  atWorkers(): Promise<CallsAtWorkers>;
  /** Nobody needs the call any more. */
  withdraw(key: CallKey): void;
  /**
   * Takes back those that no worker executes, also where another run executes the call itself, and returns them. Rejects as `Claims.claim`
   * does.
   */
  takeBack(keys: readonly CallKey[]): Promise<readonly CallKey[]>;
  workers(): Promise<LivingWorkers>;
  watch(): HintWatch;
}
