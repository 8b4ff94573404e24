/** Renders what a plan says of the budget: that it will do, that it will not, or what is not known. calls.md 17.1. */
import type { BudgetVerdict } from '../../../src/api/commands/plan.js';
import { budgetText } from '../../../src/api/commands/words.js';
import { oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { counted } from './garbage-collection.js';

export interface KnownOfCalls {
  /** The number of calls that the plan expects. */
  readonly calls: number;
  /** Names of those whose cost is not known. */
  readonly unpriced: readonly string[];
  /** `the time of 2 calls`; absent where nothing is to be timed. */
  readonly untimed: string | undefined;
  /** The end of a sentence that is not decided, with the mark before it: other things that leave it open. */
  readonly more: string;
  /** The same, said only where all is known of the calls. */
  readonly ifAllIsKnown?: string;
}

/** The limits in words. */
const LIMITS: { readonly [L in NonNullable<BudgetVerdict['limit']>]: string } = {
  usd: 'the amount of money',
  tokens: 'the number of tokens',
  calls: 'the number of calls',
  ms: 'the time',
};

export function renderBudgetVerdict(
  { limits, suffices, limit, after }: BudgetVerdict,
  { calls, unpriced, untimed, more, ifAllIsKnown = '' }: KnownOfCalls,
  style: Style,
): string {
  const budget = `Budget ${budgetText(limits)}`;
  if (suffices === true) return `${budget}: it will do.`;
  if (suffices === false)
    return style.yellow(
      `${budget}: it will not do: ${limit ? LIMITS[limit] : 'it'} is reached after ${after} of ${counted(calls, 'call')}.`,
    );
  const hasPrice = limits.usd !== undefined || limits.tokens !== undefined || limits.shared !== undefined;
  const unknown = [
    ...(hasPrice && unpriced.length > 0 ? [`the cost of ${unpriced.join(', ')}`] : []),
    ...(limits.ms !== undefined && untimed !== undefined ? [untimed] : []),
  ];
  const why = unknown.length === 0 ? ifAllIsKnown : `, because nothing is known of ${unknown.join(' and ')}`;
  return oneLine(`${budget}: not known if it will do${why}${more}.`);
}
