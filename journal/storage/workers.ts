/** Declares how workers take the calls that runs offer. team-store.md 7. */
import type { CallKey, EventRef, Position, RunRef } from '../ids.js';
import type { CreateOptions, Journal } from '../store.js';
import type { HintWatch } from './hints.js';

export interface WorkerFacts {
  readonly name: string;
  readonly version: string;
  /** Slots by lane; the empty name stands for calls without a lane. */
  readonly lanes: { readonly [lane: string]: number };
}

/** A run that offers calls. */
export interface OfferingRun {
  /** Identifies its row. */
  readonly id: string;
  readonly ref: RunRef;
}

export interface TakenOffer {
  readonly id: string;
  readonly key: CallKey;
  readonly lane: string;
  readonly call: string;
  readonly of: OfferingRun;
  readonly refused: EventRef | undefined;
}

/** An offer of a run that the worker does not serve yet; it is not claimed. */
export type FirstOffer = Pick<TakenOffer, 'id' | 'call'>;

export interface Taking {
  readonly taken: readonly TakenOffer[];
  /** Runs with offers that the worker does not serve yet. */
  readonly unserved: readonly (OfferingRun & { readonly first: FirstOffer })[];
  /** Runs whose worker's run was sealed. */
  readonly sealed: readonly OfferingRun[];
}

/** The end of the lease by run: a run whose lease ends later than before has renewed it. */
export type Holders = ReadonlyMap<string, string>;

/** Takes offers of all runs of a project for a worker, and answers them. */
export interface TeamWorkers {
  /** A store that is away is waited for so long. */
  readonly waitMs: number;
  /** Lets the worker be seen while it serves no run. */
  present(worker: WorkerFacts): Promise<void>;
  /** Says that the worker is gone. */
  leave(): Promise<void>;
  /** Claims the oldest offers that nobody executes, so many of each lane. */
  take(worker: string, slots: { readonly [lane: string]: number }, served: Iterable<ServedRun>): Promise<Taking>;
  /** Begins the run of a worker that serves `of`. */
  serve(of: OfferingRun, worker: WorkerFacts, options: CreateOptions): Promise<ServedRun>;
  /** Leaves the call to others. `stop`: the run that offers is to try it at once. */
  decline(offer: Pick<TakenOffer, 'id'>, worker: string, why: string, stop?: boolean): Promise<void>;
  /** Returns those of the runs that are alive and have not ended. */
  living(runs: readonly OfferingRun[]): Promise<ReadonlySet<string>>;
  /** Returns the runs that have claimed calls which this worker could execute, too, and which have not ended. */
  holders(worker: string, lanes: readonly string[]): Promise<Holders>;
  /** Waits for offers. */
  watch(): HintWatch;
}

/** The run of a worker that serves another run. */
export interface ServedRun {
  readonly of: OfferingRun;
  readonly journal: Journal;
  /** The claim of an offer that was taken is this run's. */
  hold(key: CallKey): void;
  /** The end of a call has this place. Until it is committed, the run does not take the call again. */
  ended(key: CallKey, position: Position): void;
  giveBack(key: CallKey): void;
  /** Waits for a store that is away no longer than a moment: what it does not take then stays on this machine. */
  hurry(): void;
}
