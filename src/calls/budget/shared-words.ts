/** Says in words what is wrong with a budget that runs share, and which command changes it. team-store.md 8. */
import type { Stop } from '../dispatch/stop.js';

export interface FullBudget {
  readonly budget: {
    readonly name: string;
    readonly unit: 'usd' | 'tok' | 'calls';
    readonly period: 'day' | 'month' | null;
    readonly total: number;
    readonly spent: number;
    readonly reserved: number;
  };
  /** The sum that the attempt wanted to reserve. */
  readonly amount: number;
}

/** Digits behind the point of a sum of dollars. */
const USD_DIGITS = 4;

/** As `$12`, `$0.30`, `$0.0125`, `2000000 tokens`, `1 call`. */
export function sumText(sum: number, unit: FullBudget['budget']['unit']): string {
  if (unit === 'usd') {
    const [whole = '', digits = ''] = String(Number(sum.toFixed(USD_DIGITS))).split('.');
    return `$${whole}${digits === '' ? '' : `.${digits.padEnd(2, '0')}`}`;
  }
  return unit === 'tok' ? `${sum} tokens` : sum === 1 ? '1 call' : `${sum} calls`;
}

export function sharedBudgetStop(refusal: { readonly kind: 'missing'; readonly name: string } | FullBudget, fn: string): Stop {
  if ('kind' in refusal && refusal.kind === 'missing') {
    const { name } = refusal;
    return {
      class: 'budget',
      message: `there is no shared budget ${name} any more`,
      hint: `mlld store budget ${name} 50usd makes it; then run it again with --resume`,
    };
  }
  const { budget, amount } = refusal as FullBudget;
  const { name, unit, period, total, spent, reserved } = budget;
  const text = (sum: number): string => sumText(sum, unit);
  const left = Math.max(0, total - spent - reserved);
  const held = reserved > 0 ? `, ${text(reserved)} held by calls in flight` : '';
  const wanted = spent < total && amount > left ? `; a call of @${fn} reserves ${text(amount)}` : '';
  const each = period === null ? '' : ` a ${period}`;
  const again = period === null ? '' : `, or run it again ${period === 'day' ? 'tomorrow' : 'next month'} (UTC)`;
  const raised = Number((2 * Math.max(total, spent + reserved)).toFixed(USD_DIGITS)); // less than is spent would let nothing begin
  return {
    class: 'budget',
    message: `the shared budget ${name} of ${text(total)}${each} is used up: ${text(spent)} spent${held}${wanted}`,
    hint: `mlld store budget ${name} ${raised}${unit} raises it; then run it again with --resume${again}`,
  };
}
