/** Says of a run which other run it serves: it holds calls of that one, which is resumed instead. */
import type { RunId } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { sealedRunOf } from '../../fold/calls/salvaged-attempts.js';
import { servesAnotherRun } from '../../fold/record-of-upkeep.js';
import { workerOfRun } from '../summary/worker-of-run.js';

export interface ServedRun {
  /** `salvage`: it holds what the calls of a sealed run ended with. */
  readonly as: 'worker' | 'salvage';
  /** Absent where that run was removed before the first event of this one was written. */
  readonly run?: RunId;
  /** The name of the worker. */
  readonly worker?: string;
}

/** Undefined for a run that serves no other. */
export async function servedRunOf(store: JournalStore, file: RunFile): Promise<ServedRun | undefined> {
  if (!servesAnotherRun(file)) return undefined;
  const worker = await workerOfRun(store, file);
  if (worker !== null) return { as: 'worker', run: worker.for, worker: worker.name };
  if (file.isWorker === true) return { as: 'worker' };
  const run = await sealedRunOf(store, file);
  return { as: 'salvage', ...(run !== undefined && { run }) };
}
