/** The reasons for which no attempt is started any more, in one lane or at all. calls.md 12.7, 12.8, 13.6 and 14.3. */
import type { CallFact, StopClass } from '../../../journal/facts/call-event.js';
import type { OpPath } from '../../../journal/ids.js';
import { MlldError } from '../../errors.js';
import { budgetText, type BudgetLimits, type LimitKind } from '../budget/limits.js';
import type { Failure } from '../failure.js';

export interface Stop {
  readonly class: StopClass;
  /** Absent: no lane starts anything. */
  readonly lane?: string;
  /** Milliseconds since 1970. */
  readonly resetsAtMs?: number;
  readonly message: string;
  /** The remedy, where the class alone does not say it. */
  readonly hint?: string;
  /** The reason for which a run that may wait for a quota does not. */
  readonly notWaited?: Exclude<RefusalToWait, 'not asked'>;
  /** A budget that is enough for one call, where that of the run is not, as `--budget` takes it. */
  readonly leastBudget?: string;
  /** Further lanes that were stopped, later. */
  readonly others?: readonly Stop[];
  /** The error of the journal. */
  readonly error?: Error;
  /** Attempts that were let go before hold what they reserved, and begin. */
  readonly sparesAdmitted?: true;
  /** The run is not this process's any more: it ends when no attempt is in flight, whatever else it does or waits for. */
  readonly endsRun?: true;
}

const LIMIT_WORDS: { readonly [L in LimitKind]: (limit: number) => string } = {
  usd: (usd) => `$${usd}`,
  tokens: (tokens) => `${tokens} tokens`,
  calls: (calls) => (calls === 1 ? '1 call' : `${calls} calls`),
  ms: (ms) => `${Math.round(ms / 1000)} s`,
};

/** An attempt that needs more than the whole budget, so that no resume with the same budget starts it either. */
interface TooLarge {
  readonly fn: string;
  readonly needs: number;
  readonly spent: Readonly<Partial<Record<LimitKind, number>>> | undefined;
}

export function budgetStop(limit: LimitKind, budget: BudgetLimits, tooLarge?: TooLarge): Stop {
  const words = LIMIT_WORDS[limit];
  const allowed = `the budget of ${words(budget[limit] ?? 0)}`;
  // A run whose attempts are all let go at once would else begin none of them, also each time that it is resumed.
  const spares = limit === 'ms' ? {} : ({ sparesAdmitted: true } as const);
  if (tooLarge === undefined) return { class: 'budget', message: `${allowed} is reached`, ...spares };
  const spent = Number((tooLarge.spent?.[limit] ?? 0).toPrecision(SPENT_DIGITS));
  const why =
    spent === 0
      ? `is less than a call of @${tooLarge.fn} is expected to cost: ${words(tooLarge.needs)}`
      : `is reached: ${words(spent)} spent, and a further call of @${tooLarge.fn} is expected to cost ${words(tooLarge.needs)}`;
  return {
    class: 'budget',
    ...spares,
    message: `${allowed} ${why}`,
    leastBudget: budgetText({ ...budget, [limit]: roundedUp(tooLarge.needs, limit === 'usd' ? LEAST_USD : 1) }),
  };
}

/**
 * Returns the stop of a run all of whose attempts waited for calls inside them when the number that its budget allows was reached: a later
 * run with the same budget would come to the same point.
 */
export function stopOfWaiting(stop: Stop, budget: BudgetLimits, attempts: number): Stop {
  if (stop.class !== 'budget' || stop.leastBudget !== undefined || attempts === 0 || attempts !== budget.calls) return stop;
  return { ...stop, leastBudget: budgetText({ ...budget, calls: attempts + 1 }) };
}

const SPENT_DIGITS = 4;

/** Smaller amounts would be written with an exponent, which no budget has. */
const LEAST_USD = 0.000001;

/** To two digits, as a person would write it. */
function roundedUp(amount: number, least: number): number {
  const unit = Math.max(least, 10 ** (Math.floor(Math.log10(amount)) - 1));
  return Number((Math.ceil(amount / unit - ROUNDING) * unit).toPrecision(DIGITS));
}

/** 0.0045 / 0.0001 is a little more than 45. */
const ROUNDING = 1e-6;
const DIGITS = 12;

/** calls.md 13.4 */
export const NO_COST: Stop = {
  class: 'budget',
  message: 'an attempt reported no cost, and --budget-strict lets nothing start that could cost more',
  hint: 'make its cost known (a reply in JSON, the option model, "prices" in mlld-config.json), or run it with --resume and without --budget-strict',
};

/** The reasons for which a run does not wait for a quota that is used up. */
export type RefusalToWait = 'not asked' | 'no time' | 'too late' | 'no result';

/** True for a failure that stops its lane. */
export function isStopping({ class: failureClass }: Failure): boolean {
  return failureClass === 'quota' || failureClass === 'auth';
}

export function stopFact({ class: stopClass, lane, resetsAtMs, message }: Stop, op: OpPath | undefined): StopFact {
  return {
    type: 'dispatch.stopped',
    class: stopClass,
    ...(lane === undefined ? {} : { lane }),
    ...(op === undefined ? {} : { op }),
    ...(resetsAtMs === undefined ? {} : { resetsAt: new Date(resetsAtMs).toISOString() }),
    message,
  };
}

type StopFact = Extract<CallFact, { type: 'dispatch.stopped' }>;

/** The error of what still waits when the run is paused, or ends for another reason. */
class StillWaiting extends MlldError {
  constructor() {
    super('INTERRUPTED', 'The run was paused');
    this.name = 'StillWaiting';
  }
}

/** Returns whether the error is that of what waited when the run ended: nothing failed. */
export function isStillWaiting(error: unknown): boolean {
  return error instanceof StillWaiting;
}

export function interrupted(): MlldError {
  return new StillWaiting();
}

/** Returns the error of a run that a signal ended: one that ended what waited is not a pause. */
export function endedBySignal(error: unknown): unknown {
  if (!(error instanceof StillWaiting)) return error;
  const { location } = error;
  return new MlldError('INTERRUPTED', 'interrupted while a call waited to start', { ...(location && { location }), cause: error });
}
