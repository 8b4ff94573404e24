/** Hints of other processes that it is worth looking into the store again. team-store.md 11. */
import type { Workflow } from '../ids.js';

/**
 * A hint of `OFFERS` says that there are offers of calls in the project; one of a workflow, that calls of it ended, or that claims of them
 * were given back.
 */
export type Topic = Workflow | typeof OFFERS;
export const OFFERS = Symbol('offers');

/** Waits for hints of one topic between two looks. */
export interface HintWatch {
  /**
   * Resolves when a hint has come since the last time, at the latest after `ms`; true: it is worth looking at once. A hint may be lost, so
   * the caller looks in both cases. Never rejects: an aborted `signal` ends the waiting.
   */
  wait(ms: number, signal?: AbortSignal): Promise<boolean>;
  close(): void;
}

export interface Hints {
  /** Returns at once, and never throws. Hints that come within a moment go together. */
  send(topic: Topic): void;
  watch(topic: Topic): HintWatch;
}
