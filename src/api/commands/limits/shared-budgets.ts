/** Shows, makes and changes the budgets that runs share. team-store.md 8. */
import type { BudgetPeriod, BudgetUnit, SharedBudget, SharedBudgets } from '../../../../journal/postgres/limits/shared-budgets.js';
import type { JournalStore } from '../../../../journal/store.js';
import { isSharedName, parseBudget } from '../../../calls/budget/limits.js';
import { MlldError } from '../../../errors.js';
import { budgetsIn } from '../../../session/script/shared-budgets.js';

export { sumText } from '../../../calls/budget/shared-words.js';
export type { SharedBudget };

interface WantedBudget {
  readonly name: string;
  /** Undefined leaves the sum as it is. */
  readonly amount: string | undefined;
  /** `day`, `month` or `project`. */
  readonly per: string | undefined;
}

const AMOUNT_HINT = 'one sum: 50usd, 2Mtok (k, M) or 300calls';

/** Throws BUDGET for a name, a sum or a unit that the budget can't have. */
export async function setSharedBudget(store: JournalStore, { name, amount, per }: WantedBudget): Promise<SharedBudget> {
  if (!isSharedName(name)) {
    throw new MlldError('BUDGET', `"${name}" can't be the name of a shared budget`, {
      hint: 'a letter, then letters, digits, ".", "_" and "-", at most 100 in all',
    });
  }
  const budgets = required(store);
  const [known] = amount === undefined ? await sharedBudgetsOf(store, name) : [];
  const { unit, total } = amount === undefined && known ? known : sumOf(amount ?? '');
  const changed = await budgets.set(name, { unit, total, ...(per !== undefined && { period: per as BudgetPeriod | 'project' }) });
  if (changed) return changed;
  throw new MlldError('BUDGET', `the shared budget ${name} counts something else than ${amount}`, {
    hint: 'give its sum in the unit that it has (mlld store budget shows it), or choose another name',
  });
}

/** All of them, or the one of that name. Throws BUDGET where there is none of it. */
export async function sharedBudgetsOf(store: JournalStore, name: string | undefined): Promise<readonly SharedBudget[]> {
  const shared = required(store);
  const budgets = await shared.list();
  if (name === undefined) return budgets;
  const found = budgets.filter((budget) => budget.name === name);
  if (found.length > 0) return found;
  if ((await shared.damaged()).includes(name)) throw new MlldError('BUDGET', describeDamaged(name));
  throw new MlldError('BUDGET', `there is no shared budget ${name}`, { hint: `mlld store budget ${name} 50usd makes it` });
}

/** A line for each budget that `sharedBudgetsOf` leaves out, because SQL has made its sums what are no amounts. */
export async function damagedBudgetsOf(store: JournalStore): Promise<readonly string[]> {
  return (await required(store).damaged()).map(describeDamaged);
}

function describeDamaged(name: string): string {
  return `the sums of the shared budget ${name} are no amounts: mlld store rebuild makes them anew`;
}

function required(store: JournalStore): SharedBudgets {
  const budgets = budgetsIn(store);
  if (budgets) return budgets;
  throw new MlldError('BUDGET', 'the runs of this project are kept in files, and only the store of a team has shared budgets', {
    hint: 'MLLD_STORE names one (docs/team.md)',
  });
}

function sumOf(amount: string): { readonly unit: BudgetUnit; readonly total: number } {
  const { usd, tokens, calls, ms, shared } = parseBudget(amount, 'mlld store budget', AMOUNT_HINT);
  const sums = [
    ...(usd === undefined ? [] : [{ unit: 'usd' as const, total: usd }]),
    ...(tokens === undefined ? [] : [{ unit: 'tok' as const, total: tokens }]),
    ...(calls === undefined ? [] : [{ unit: 'calls' as const, total: calls }]),
  ];
  const [sum] = sums;
  if (sum !== undefined && sums.length === 1 && ms === undefined && shared === undefined) return sum;
  throw new MlldError('BUDGET', `"${amount}" is not the sum of a shared budget`, { hint: AMOUNT_HINT });
}
