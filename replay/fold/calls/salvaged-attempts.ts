/**
 * Finds the attempts of a sealed run whose ends are in a salvage run: they count there, with what they cost. team-store.md 4.5.
 */
import type { JournalEvent } from '../../../journal/event.js';
import type { OpPath, RunId } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { foldRun, startOfRun } from '../fold-run.js';
import type { Projection } from '../projection.js';

export interface SalvagedAttempts {
  /** The sealed run; undefined for a run that is no salvage run. */
  of: RunId | undefined;
  /** A sealed run has at most one attempt in flight of each operation. */
  readonly ops: Set<OpPath>;
}

/** Folds the events of a salvage run; those of any other run leave it empty. */
export const salvagedAttempts = {
  initial: (): SalvagedAttempts => ({ of: undefined, ops: new Set() }),
  apply(state: SalvagedAttempts, event: JournalEvent): SalvagedAttempts {
    if (event.type === 'run.started' || event.type === 'run.finished') state.of ??= event.salvages;
    if (event.type === 'call.started' && state.of !== undefined && event.begun?.run === state.of) state.ops.add(event.op);
    return state;
  },
} satisfies Projection<SalvagedAttempts>;

/** Returns the run whose calls a salvage run has; undefined where that can't be read. */
export async function sealedRunOf(store: JournalStore, { ref, finished }: RunFile): Promise<RunId | undefined> {
  return finished?.salvages ?? (await startOfRun(store, ref))?.salvages;
}

/** Reads the salvage runs of one sealed run. Damage in them is for their own reports to name. */
export async function readSalvaged(store: JournalStore, salvageRuns: readonly RunFile[]): Promise<ReadonlySet<OpPath>> {
  const ops = new Set<OpPath>();
  for (const { ref } of salvageRuns) {
    const salvaged = await foldRun(store, ref, salvagedAttempts, { onDefect: () => undefined });
    for (const op of salvaged.ops) ops.add(op);
  }
  return ops;
}
