/** Declares what the dispatcher of a run needs of lanes that all processes of a project share. team-store.md 8. */
import type { LaneChange, LaneLimits, Start } from './lane-limits.js';
import type { Limiter } from './limiter.js';

/** A lane of this run, as those who share it see it. */
export interface SharedLane {
  readonly name: string;
  readonly limiter: Limiter;
  /** Attempts of this run wait in it. */
  isWaiting(): boolean;
  /** Called when its limiter has learned from other processes. */
  heard(changes: readonly LaneChange[]): void;
}

/** `alone`: the attempt was rejected for what it asks. `other`: its end says nothing about the provider's limits. */
export type AttemptOutcome = 'accepted' | 'rejected' | 'alone' | 'other';

export interface AttemptEnding {
  readonly outcome: AttemptOutcome;
  readonly retryAfterMs: number | undefined;
}

export interface LaneSharing {
  /** Reads what the lanes of the project have learned. Called once, before the first attempt; never rejects. */
  learn(): Promise<void>;
  /** Moments are those of the wall clock. */
  learned(lane: string): LaneLimits | undefined;
  opened(lane: SharedLane): void;
  /** Resolves with false when attempts of others were first: the start is taken back, and the lane must decide anew. Never rejects. */
  take(lane: string, start: Start): Promise<boolean>;
  /** Calls `learn`, which teaches the limiter, when all that others did before was heard. */
  ended(lane: string, start: Start, end: AttemptEnding, learn: () => void): void;
  /** The attempt only waits for calls inside it: others need not count it any more. */
  left(lane: string, start: Start): void;
  /** False while an attempt of this run has ended that the lane has not learned from. */
  isSettled(lane: string): boolean;
  /** The limiter has learned from an attempt of this run. */
  changed(lane: string): void;
  /** Attempts wait: what others do is heard from time to time, until none wait any more. */
  follow(lane: string): void;
}
