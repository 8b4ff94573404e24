/** `mlld store budget`: shows, makes and changes the budgets that all runs of a project share. team-store.md 8. */
import {
  damagedBudgetsOf,
  setSharedBudget,
  sharedBudgetsOf,
  sumText,
  type SharedBudget,
} from '../../../src/api/commands/limits/shared-budgets.js';
import { openProject } from '../open-project.js';
import { oneLine } from '../../render/one-line.js';
import { styleFor, type Style } from '../../render/style.js';
import { figures, table } from '../../render/table.js';
import { refuseFiles } from './refuse-files.js';
import type { Io } from '../../terminal/io.js';

interface BudgetOptions {
  readonly per?: string;
  readonly json?: true;
}

export async function budget(io: Io, name: string | undefined, amount: string | undefined, { per, json }: BudgetOptions): Promise<void> {
  const { project, store } = await openProject(io);
  refuseFiles(io, project, 'mlld store budget');
  const budgets =
    name !== undefined && (amount !== undefined || per !== undefined)
      ? [await setSharedBudget(store, { name, amount, per })]
      : await sharedBudgetsOf(store, name);
  if (json) return io.stdout(`${JSON.stringify(name === undefined ? budgets : budgets[0], undefined, 2)}\n`);
  io.stdout(
    budgets.length === 0
      ? 'No shared budgets; mlld store budget NAME 50usd makes one.\n'
      : [...renderBudgets(budgets, styleFor(io.colours.stdout)), ''].join('\n'),
  );
  if (name === undefined) warnOfDamaged(io, await damagedBudgetsOf(store));
}

/** Rows that SQL has changed into what can't be read are left out of reports. */
export function warnOfDamaged(io: Io, lines: readonly string[]): void {
  for (const line of lines) io.stderr(`warning: ${oneLine(line)}\n`);
}

/** Returns lines without newlines. */
export function renderBudgets(budgets: readonly SharedBudget[], style: Style): readonly string[] {
  const rows = budgets.map(({ name, unit, period, total, spent, reserved }) => {
    const left = total - spent - reserved;
    return [
      oneLine(name),
      `${sumText(total, unit)}${period === null ? '' : ` a ${period}`}`,
      sumText(spent, unit),
      sumText(reserved, unit),
      left < 0 ? `over by ${sumText(-left, unit)}` : sumText(left, unit),
    ];
  });
  return table([{ title: 'budget' }, ...figures('total', 'spent', 'reserved', 'left')], rows, style);
}
