/** Connects the calls of a run with the budgets that the runs of its project share. team-store.md 8. */
import { JournalError } from '../../../journal/errors.js';
import type { RunRef } from '../../../journal/ids.js';
import type { Limiting } from '../../../journal/postgres/open-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { MlldError } from '../../errors.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';

type Shared = Pick<CallRuntime, 'sharedBudgets'>;

/** Undefined for files. */
export function budgetsIn(store: JournalStore): Limiting['budgets'] | undefined {
  return 'budgets' in store ? (store as JournalStore & Limiting).budgets : undefined;
}

/** Throws BUDGET where the run can't have a budget that its settings name. Called before the run begins. */
export async function checkSharedBudgets({ sharedBudgets }: Shared, store: JournalStore | undefined): Promise<void> {
  if (!sharedBudgets) return;
  const { names } = sharedBudgets;
  if (store === undefined) {
    throw new MlldError('BUDGET', `the shared budget ${names[0]} holds for runs that are recorded, and this one is not`, {
      hint: 'run it with --checkpoint',
    });
  }
  const budgets = budgetsIn(store);
  if (!budgets) {
    throw new MlldError(
      'BUDGET',
      `--budget: "${names[0]}" would be a budget that runs share, and the runs of this project are kept in files`,
      {
        hint: 'write limits as 5usd, 2Mtok, 300calls, 3h; shared budgets need the store of a team (docs/team.md)',
      },
    );
  }
  const known = await budgets.list().catch((error: unknown) => {
    if (error instanceof JournalError) return undefined; // the run itself says what is wrong with the store
    throw error;
  });
  const missing = known && names.find((name) => !known.some((budget) => budget.name === name));
  if (known === undefined || missing === undefined) return;
  if ((await budgets.damaged()).includes(missing)) {
    throw new MlldError('BUDGET', `the sums of the shared budget ${missing} are no amounts, so they were not written by mlld`, {
      hint: 'mlld store rebuild makes them anew from the journals',
    });
  }
  const others = known.length === 0 ? '' : `; there are ${known.map(({ name }) => name).join(', ')}`;
  throw new MlldError('BUDGET', `there is no shared budget ${missing}`, { hint: `mlld store budget ${missing} 50usd makes it${others}` });
}

export function openSharedBudgets({ sharedBudgets }: Shared, store: JournalStore, run: RunRef): void {
  const budgets = budgetsIn(store);
  if (!sharedBudgets || !budgets) return;
  sharedBudgets.open({
    async reserve(attempt) {
      return budgets.reserve({ run, names: sharedBudgets.names, ...attempt });
    },
    release: (attempt) => budgets.release({ run, ...attempt }),
  });
}
