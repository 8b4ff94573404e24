/** Names who runs the runs of a team, as their first events say. */
import type { EventOf } from '../../../journal/event.js';
import type { RunId, RunRef, Workflow } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';

/** Returns `ada@laptop`; the name of the machine alone where no user is recorded. */
export function personOf({ host, user }: EventOf<'run.started'>): string {
  return user === undefined ? host : `${user}@${host}`;
}

/**
 * Reads the people of many runs, with one request for each workflow. Empty for runs in files: a folder has one user, and each run would
 * have to be opened.
 */
export async function peopleOfRuns(store: JournalStore, refs: readonly RunRef[]): Promise<ReadonlyMap<RunId, string>> {
  const people = new Map<RunId, string>();
  if (store.firstEvents === undefined) return people;
  for (const [workflow, runs] of byWorkflow(refs)) {
    for (const [run, event] of await store.firstEvents(workflow, runs)) if (event.type === 'run.started') people.set(run, personOf(event));
  }
  return people;
}

function byWorkflow(refs: readonly RunRef[]): ReadonlyMap<Workflow, readonly RunId[]> {
  const runs = new Map<Workflow, RunId[]>();
  for (const { workflow, run } of refs) runs.set(workflow, [...(runs.get(workflow) ?? []), run]);
  return runs;
}
