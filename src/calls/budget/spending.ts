/** Declares what a run and its child runs have in common: one budget, and the moment at which its time began. calls.md 13.1. */
import { Budget } from './budget.js';
import type { BudgetLimits } from './limits.js';

export interface Spending {
  readonly budget: Budget | undefined;
  /** Monotonic. */
  readonly beganMs: number;
  /** All that spend the budget: when an attempt of one has left it, the others start what waits for room. */
  readonly spenders: Set<{ pumpAll(): void }>;
  /** An attempt has ended by itself: a later run that has the same budget gets further. */
  hasEnded: boolean;
}

export function newSpending(limits: BudgetLimits | undefined, beganMs: number): Spending {
  return { budget: limits && new Budget(limits), beganMs, spenders: new Set(), hasEnded: false };
}
