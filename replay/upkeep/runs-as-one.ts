/**
 * Finds the runs that upkeep treats as one: a run, and those that serve it, in which workers have executed its calls, or the calls of a
 * sealed run have ended. team-store.md 7.1.
 */
import { firstEvent } from '../fold/fold-run.js';
import type { JournalEvent } from '../../journal/event.js';
import type { RunId, RunRef } from '../../journal/ids.js';
import type { JournalStore, RunFile } from '../../journal/store.js';
import { servesAnotherRun } from '../fold/record-of-upkeep.js';

/** Returns the run that this one serves; undefined for one that serves none. `first` is its first event. */
export function servedBy(first: JournalEvent | undefined): RunId | undefined {
  return first?.type === 'run.started' ? (first.worker?.for ?? first.salvages) : undefined;
}

/** Returns the run itself first, then the others, oldest first. A run that is gone is nothing. */
export async function runsAsOne(store: JournalStore, ref: RunRef): Promise<readonly RunFile[]> {
  const files = await store.runs(ref.workflow);
  const serves = await servedRuns(store, files);
  const head = headOf(serves, ref.run);
  const isMeant = ({ ref: { run } }: RunFile): boolean => run === ref.run;
  const others = files.filter((file) => !isMeant(file) && headOf(serves, file.ref.run) === head);
  return [...files.filter(isMeant), ...others];
}

/** Returns the run that each of the files serves, of those that serve one. */
export async function servedRuns(store: JournalStore, files: readonly RunFile[]): Promise<ReadonlyMap<RunId, RunId>> {
  const serves = new Map<RunId, RunId>();
  for (const file of files) {
    const served = await servedIn(store, file);
    if (served !== undefined) serves.set(file.ref.run, served);
  }
  return serves;
}

/** Follows a salvage run of a worker's run to the run that the worker served. A run serves an earlier one, or it says something wrong. */
export function headOf(serves: ReadonlyMap<RunId, RunId>, run: RunId): RunId {
  let head = run;
  for (let next = serves.get(head); next !== undefined && next < head; next = serves.get(head)) head = next;
  return head;
}

async function servedIn(store: JournalStore, file: RunFile): Promise<RunId | undefined> {
  const { ref, finished } = file;
  const named = finished?.worker?.for ?? finished?.salvages;
  // A run that did not end says it in its first event only, and a store of files reads no more of it than the end.
  if (named !== undefined || (finished !== undefined && !servesAnotherRun(file))) return named;
  return servedBy(await firstEvent(store, ref));
}
