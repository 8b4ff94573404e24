/** A project folder with runs in its journal, written through the store as a run writes them. */
import { openFileStore } from '../../journal/storage/file-store.js';
import type { Fact } from '../../journal/event.js';
import type { RunRef } from '../../journal/ids.js';
import { finished, runRef, started } from './written-runs.js';

/** Records a run of `job.mld` that ended in order; gives where it is. */
export async function recordRun(folder: string, number: number, ...facts: readonly Fact[][]): Promise<RunRef> {
  return record(folder, runRef(number), [started(runRef(number)), ...facts.flat(), finished()]);
}

/** Records a run that stopped without a word: no `run.finished`, no writer. */
export async function recordCrash(folder: string, number: number, ...facts: readonly Fact[][]): Promise<RunRef> {
  return record(folder, runRef(number), [started(runRef(number)), ...facts.flat()]);
}

async function record(folder: string, ref: RunRef, facts: readonly Fact[]): Promise<RunRef> {
  const journal = await openFileStore(folder).create(ref);
  for (const fact of facts) await journal.append(fact);
  await journal.close();
  return ref;
}
