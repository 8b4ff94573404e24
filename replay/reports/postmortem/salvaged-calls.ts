/** Finds the salvage runs of a sealed run, and the calls that ended in them. team-store.md 4.5. */
import type { OpPath, RunId } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { emptyLedger, endRun, followCall, type CallLedger } from '../../fold/calls/call-ledger.js';
import { salvagedAttempts, type SalvagedAttempts } from '../../fold/calls/salvaged-attempts.js';
import { foldRun } from '../../fold/fold-run.js';
import { isSalvageRun } from '../../fold/record-of-upkeep.js';
import type { Projection } from '../../fold/projection.js';

export interface SalvagedCalls {
  /** The salvage run. */
  readonly run: RunId;
  readonly ops: ReadonlySet<OpPath>;
  /** US dollars; null where no attempt told any. */
  readonly costUsd: number | null;
}

interface Ends {
  readonly attempts: SalvagedAttempts;
  readonly ledger: CallLedger;
}

const ends: Projection<Ends> = {
  initial: () => ({ attempts: salvagedAttempts.initial(), ledger: emptyLedger() }),
  apply(state, event) {
    salvagedAttempts.apply(state.attempts, event);
    followCall(state.ledger, event);
    return state;
  },
};

/** Oldest first. Damage in these runs is for their own reports to name. */
export async function salvagedCallsOf(store: JournalStore, { ref }: RunFile, runs: readonly RunFile[]): Promise<readonly SalvagedCalls[]> {
  const found: SalvagedCalls[] = [];
  for (const file of runs) {
    if (file.ref.run <= ref.run || !isSalvageRun(file)) continue;
    const { attempts, ledger } = await foldRun(store, file.ref, ends, { onDefect: () => undefined });
    if (attempts.of === ref.run) found.push({ run: file.ref.run, ops: attempts.ops, costUsd: ledger.total.costUsd });
  }
  return found;
}

/** Returns the operations whose attempts count in salvage runs (COUNTS-6). A run that ended in order was not sealed before. */
export async function salvagedOpsOf(store: JournalStore, file: RunFile): Promise<ReadonlySet<OpPath>> {
  if (file.liveness !== 'crashed') return new Set();
  const salvaged = await salvagedCallsOf(store, file, await store.runs(file.ref.workflow));
  return new Set(salvaged.flatMap(({ ops }) => [...ops]));
}

/** Counts what was in flight when the run crashed, as `endRun` does, for a report of this run alone. */
export async function endCrashedRun(store: JournalStore, file: RunFile, ledger: CallLedger): Promise<void> {
  if (file.liveness === 'crashed') endRun(ledger, await salvagedOpsOf(store, file));
}
