/** Declares what the dispatcher of a run is given, and what it gives. */
import type { CallFact } from '../../../journal/facts/call-event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { Cost, Reservation, Reserved } from '../budget/budget.js';
import type { Spending } from '../budget/spending.js';
import type { Headers } from '../evidence/times.js';
import type { Failure } from '../failure.js';
import type { LaneLimits, Start } from '../lanes/lane-limits.js';
import type { LaneSharing } from '../lanes/lane-sharing.js';
import type { CallSettings } from '../options.js';
import type { Stop } from './stop.js';

/** An attempt that may run. It is handed back when it has ended. */
export interface Started {
  readonly op: OpPath;
  readonly lane: string;
  /** Absent when it did not wait. */
  readonly waitedMs?: number;
  readonly reserved?: Reservation;
  readonly start: Start;
  readonly charge: Reserved | undefined;
}

/** The end of an attempt. `cost` is undefined where it is not known. */
export interface AttemptEnd {
  readonly failure?: Failure;
  readonly cost: Cost | undefined;
  /** Headers of the reply, names in small letters. */
  readonly headers?: Headers;
}

export interface DispatcherPorts {
  readonly settings: CallSettings;
  /** For durations. */
  readonly monotonicMs: () => number;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly random: () => number;
  /** Ends the run, whose status is then `paused`. */
  readonly pause: () => void;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  /** The calls are those of another run, which stops its own lanes: here a failure ends its call, and stops nothing. team-store.md 7.2. */
  readonly isServing?: boolean | undefined;
  /** That of the run around a child run. Both spend one budget, and it is not idle while this one is active. */
  readonly around?: RunAround | undefined;
}

/** The dispatcher of a child run, as that of the run around it sees it. */
export interface RunInside {
  isActive(): boolean;
  isPaying(): boolean;
  stop(stop: Stop): void;
}

/** The dispatcher of a run, as those of its child runs see it. */
export interface RunAround {
  readonly spending: Spending;
  /** Those of child runs that have not ended. */
  readonly inner: Set<RunInside>;
  readonly stoppedBy: Stop | undefined;
  pauseIfIdle(): void;
}

/** The lanes and the costs that an earlier run left. The limits name moments of the wall clock. */
export interface LearnedPace {
  readonly lanes: ReadonlyMap<string, LaneLimits>;
  /** By function, oldest first. */
  readonly costs: ReadonlyMap<string, readonly Cost[]>;
  /** The largest cost of each session, in US dollars. */
  readonly sessions?: ReadonlyMap<string, number>;
}

/** The lessons of earlier runs, and the recorder of changes. Given once the journal is open. */
export interface DispatchRecord {
  readonly record: (fact: Extract<CallFact, { type: 'lane.changed' | 'dispatch.stopped' | 'dispatch.resumed' }>) => void;
  /** Returns whether somebody waits until a fact is as durable as its type promises. Absent where nothing is recorded. */
  readonly isWriting?: () => boolean;
  /**
   * Called when attempts of a lane begin to wait until `untilMs` (since 1970): for its allowance, or for as long as its provider asks for,
   * which is a minute at least.
   */
  readonly waits?: (lane: string, untilMs: number, why: 'quota' | 'asked') => void;
  /** Called before the first attempt. What can't be read is learned anew. */
  readonly learn: () => Promise<LearnedPace>;
  /** Present where all processes of a project share their lanes. */
  readonly sharing?: LaneSharing | undefined;
}

export type RecordedChange = LaneLimits & { readonly why: 'grew' | 'rejected' | 'held' | 'told' | 'began' | 'restored' };
