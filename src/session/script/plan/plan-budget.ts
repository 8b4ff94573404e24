/** Says, for a plan, if a budget will do for the calls that are expected, by the rule with which the run will start them. calls.md 13.2. */
import type { KnownCost } from '../../../../replay/fold/call-history.js';
import type { Estimate, ExpectedCall } from '../../../../replay/resume/estimate.js';
import { Budget, type Cost } from '../../../calls/budget/budget.js';
import type { BudgetLimits, LimitKind } from '../../../calls/budget/limits.js';

export interface BudgetVerdict {
  /** US dollars, tokens, attempts, and milliseconds since the start of the run. */
  readonly limits: BudgetLimits;
  /**
   * False if a limit is reached before the last call; null where a cost or what others leave of a shared budget is not known, or where
   * calls may follow that are not counted.
   */
  readonly suffices: boolean | null;
  /** The limit that is reached first. */
  readonly limit: LimitKind | null;
  /** The number of calls that are executed before. */
  readonly after: number | null;
  /** A recorded run reached its end. Of a pipeline: it is known which stages follow. */
  readonly isWhole: boolean;
}

interface ExpectedCalls {
  readonly estimate: Pick<Estimate, 'functions' | 'durationMs' | 'untimed' | 'isPart'>;
  /** The calls, in their order. */
  readonly executes: readonly ExpectedCall[];
  /** The costs of attempts that the run will begin with, by function. */
  readonly history: ReadonlyMap<string, readonly KnownCost[]>;
  /** `maxCost` of the functions that have it. */
  readonly maxCosts: ReadonlyMap<string, Cost>;
  /** A recorded run reached its end. Of a pipeline: it is known which stages follow. */
  readonly isWhole: boolean;
}

/**
 * Executes the calls one after the other in thought: each costs what it had cost, else the mean of its function. Each has as many attempts
 * as in the past.
 */
export function budgetVerdict(limits: BudgetLimits, expected: ExpectedCalls | undefined): BudgetVerdict {
  if (expected === undefined) return { limits, suffices: null, limit: null, after: null, isWhole: false };
  const { estimate, executes, history, maxCosts, isWhole } = expected;
  const usual = new Map(estimate.functions.map(({ fn, meanUsd }) => [fn, usualCost(meanUsd, history.get(fn))]));
  const budget = new Budget(limits, history);
  const attempts = new Map(estimate.functions.map(({ fn, meanAttempts }) => [fn, meanAttempts]));
  /** Attempts beyond the first that are due, by function: a mean is no whole number. */
  const due = new Map<string, number>();
  let isKnown = isWhole && !estimate.isPart && limits.shared === undefined && (limits.ms === undefined || estimate.untimed === 0);
  for (const [after, { fn, usd }] of executes.entries()) {
    const elapsedMs = ((estimate.durationMs ?? 0) * after) / executes.length;
    let further = (due.get(fn) ?? 0) + (attempts.get(fn) ?? 1) - 1;
    let admission = budget.admit(fn, elapsedMs, maxCosts.get(fn));
    for (; further > 0.999 && admission.kind === 'start'; further--) {
      budget.settle(admission.reserved, {}); // the cost of the result has those of all attempts in it
      admission = budget.admit(fn, elapsedMs, maxCosts.get(fn));
    }
    due.set(fn, further);
    if (admission.kind !== 'start') {
      // Nothing is in flight here that could settle, so that the only other answer is a limit that is reached.
      return { limits, suffices: false, limit: admission.kind === 'reached' ? admission.limit : null, after, isWhole };
    }
    const cost = { ...usual.get(fn), ...(usd !== undefined && { usd }) };
    isKnown &&= (limits.usd === undefined || cost.usd !== undefined) && (limits.tokens === undefined || cost.tokens !== undefined);
    budget.settle(admission.reserved, cost);
    const limit = exceededLimit(budget);
    if (limit) return { limits, suffices: false, limit, after: after + 1, isWhole };
  }
  return { limits, suffices: isKnown ? true : null, limit: null, after: null, isWhole };
}

/** A call that costs more than it reserves can exceed the budget. calls.md 13.5 */
function exceededLimit({ over: { usd, tokens } }: Budget): LimitKind | undefined {
  return usd > 0 ? 'usd' : tokens > 0 ? 'tokens' : undefined;
}

function usualCost(usd: number | null, history: readonly KnownCost[] = []): Cost {
  const tokens = history.flatMap(({ tokens: known }) => known ?? []);
  const sum = tokens.reduce((total, each) => total + each, 0);
  return { ...(usd !== null && { usd }), ...(tokens.length > 0 && { tokens: Math.round(sum / tokens.length) }) };
}
