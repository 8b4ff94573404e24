/** Finds the workers that had begun calls which a run offered and got no end of. team-store.md 7. */
import type { CallKey } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { previewOf } from '../../fold/preview.js';
import { workerOfRun } from '../summary/worker-of-run.js';

export interface BegunByWorker {
  readonly worker: string;
  readonly preview: string | undefined;
}

/** `runs` are those of the workflow. A call that only lies claimed at a worker has not begun. */
export async function begunByWorkers(
  store: JournalStore,
  { ref }: RunFile,
  runs: readonly RunFile[],
  offered: ReadonlySet<CallKey>,
): Promise<ReadonlyMap<CallKey, BegunByWorker>> {
  const begun = new Map<CallKey, BegunByWorker>();
  if (offered.size === 0) return begun;
  for (const file of runs) {
    const served = await workerOfRun(store, file);
    if (served?.for !== ref.run) continue;
    const { name: worker } = served;
    await store.scan(
      file.ref,
      (event) => {
        if (event.type === 'call.started' && offered.has(event.key))
          begun.set(event.key, { worker, preview: event.preview ?? previewOf(event.args) });
        else if (event.type === 'call.withdrawn') begun.delete(event.key);
      },
      { onDefect: () => undefined }, // damage in other runs is not part of this report
    );
  }
  return begun;
}
