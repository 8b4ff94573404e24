/** Says which worker a run is of, and which run it serves: its last event says so, else its first one, else the store. */
import type { RunId } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { startOfRun } from '../../fold/fold-run.js';

export interface ServingWorker {
  readonly for: RunId;
  readonly name: string;
}

/** Null for a run that is no worker's, and for one without an event whose run was removed. */
export async function workerOfRun(store: JournalStore, { ref, finished, isWorker, madeFor }: RunFile): Promise<ServingWorker | null> {
  if (finished?.worker !== undefined) return finished.worker;
  if (madeFor !== undefined) return madeFor;
  const worker = isWorker === true ? (await startOfRun(store, ref))?.worker : undefined;
  return worker === undefined ? null : { for: worker.for, name: worker.name };
}
