/** Declares what a run and its child runs have in common: one budget, and the moment at which its time began. calls.md 13.1. */
import type { Budget } from './budget.js';

export interface Spending {
  readonly budget: Budget | undefined;
  /** Monotonic. */
  readonly beganMs: number;
  /** All that spend the budget: when an attempt of one has left it, the others start what waits for room. */
  readonly spenders: Set<{ pumpAll(): void }>;
}
