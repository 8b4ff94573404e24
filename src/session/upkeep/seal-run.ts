/** Takes a run away from a writer that was not heard of for a lease. team-store.md 4.5. */
import type { RunFile, JournalStore } from '../../../journal/store.js';
import { MlldError } from '../../errors.js';
import { hasKeeper } from './keeper-of.js';

/** Throws RUN_RUNNING, USAGE for files, and JOURNAL_RUN_FINISHED. */
export async function sealRun(store: JournalStore, { ref, liveness }: RunFile): Promise<void> {
  if (!hasKeeper(store)) {
    throw new MlldError('USAGE', 'a run in files needs no seal: its lock goes with its process', {
      hint: 'mlld journal list shows its state',
    });
  }
  if (liveness === 'running') {
    throw new MlldError('RUN_RUNNING', `Run ${ref.run} is in flight: its process was heard of less than a lease ago`, {
      hint: 'wait until its lease has run out (MLLD_LEASE of that process, a minute by default)',
    });
  }
  await store.seal(ref);
}
