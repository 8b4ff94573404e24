/** Declares what a lane learns of the limits of its provider, and what its limiter is given and gives. calls.md 12. */

/** The limits that a lane has learned. Missing members have no bound yet. */
export interface LaneLimits {
  readonly limit: number;
  readonly ceiling?: number;
  readonly gapMs?: number;
  readonly heldUntilMs?: number;
}

export type LaneChange = LaneLimits & { readonly why: 'grew' | 'rejected' | 'held' };

export interface LimiterOptions {
  /** Attempts in flight that are never exceeded. */
  readonly max: number;
  readonly start?: number;
  /** The limits that an earlier run has learned. */
  readonly learned?: LaneLimits;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** One attempt that was let go; the caller hands it back with its end. */
export interface Start {
  readonly atMs: number;
  /** The starts of its lane before it. */
  readonly order: number;
  /** This one included. Those that turn out to be rejected count no longer: at the provider they were never in flight. */
  inFlight: number;
  readonly episode: number;
  readonly waited: Waited;
  /** The starts before it since the lane last recovered, and their time. */
  readonly before: Measure;
  /** Taking it back restores this. */
  readonly undo: { readonly lastStartMs: number; readonly countedMs: number };
}

/** An attempt waited for this before it started; for the gap: for nothing else. */
export type Waited = 'for the gap' | 'otherwise' | 'not';

/** Starts that were not rejected so far, and the time that they took while calls waited. */
export interface Measure {
  starts: number;
  elapsedMs: number;
}
