/** The reasons for which no attempt is started any more, in one lane or at all. calls.md 12.7, 12.8, 13.6 and 14.3. */
import type { StopClass } from '../../../journal/facts/call-event.js';
import type { BudgetLimits } from '../budget/limits.js';

export interface Stop {
  readonly class: StopClass;
  /** Absent: no lane starts anything. */
  readonly lane?: string;
  /** Milliseconds since 1970. */
  readonly resetsAtMs?: number;
  readonly message: string;
  /** The error of the journal. */
  readonly error?: Error;
}

const LIMIT_WORDS: { readonly [L in keyof BudgetLimits]-?: (limit: number) => string } = {
  usd: (usd) => `$${usd}`,
  tokens: (tokens) => `${tokens} tokens`,
  calls: (calls) => `${calls} calls`,
  ms: (ms) => `${Math.round(ms / 1000)} s`,
};

export function budgetStop(limit: keyof BudgetLimits, budget: BudgetLimits): Stop {
  return { class: 'budget', message: `the budget of ${LIMIT_WORDS[limit](budget[limit] ?? 0)} is reached` };
}
