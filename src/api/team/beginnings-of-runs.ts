/** Reads of many runs what only their first events say: who runs them, and when they began by their own clocks. */
import type { EventOf } from '../../../journal/event.js';
import type { RunId, RunRef, Workflow } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { firstEvent } from '../../../replay/fold/fold-run.js';
import { mapLimited } from './map-limited.js';

export interface RunBeginning {
  /** Null for a run in files: a folder has one user. */
  readonly person: string | null;
  /** The time of the first event, by the clock of the machine that ran it: milliseconds since 1970. */
  readonly firstMs: number;
}

/** Limits the files that are open at the same time. */
const READERS = 8;

/** Returns `ada@laptop`; the name of the machine alone where no user is recorded. */
export function personOf({ host, user }: EventOf<'run.started'>): string {
  return user === undefined ? host : `${user}@${host}`;
}

/** A store on a server is asked once for each workflow. Runs whose first events are gone or damaged are left out. */
export async function beginningsOfRuns(store: JournalStore, refs: readonly RunRef[]): Promise<ReadonlyMap<RunId, RunBeginning>> {
  const beginnings = new Map<RunId, RunBeginning>();
  if (store.firstEvents === undefined) {
    await mapLimited(refs, READERS, async (ref) => {
      const first = await firstEvent(store, ref);
      if (first !== undefined) beginnings.set(ref.run, { person: null, firstMs: Date.parse(first.ts) });
    });
    return beginnings;
  }
  for (const [workflow, runs] of byWorkflow(refs)) {
    for (const [run, event] of await store.firstEvents(workflow, runs)) {
      if (event.type === 'run.started') beginnings.set(run, { person: personOf(event), firstMs: Date.parse(event.ts) });
    }
  }
  return beginnings;
}

function byWorkflow(refs: readonly RunRef[]): ReadonlyMap<Workflow, readonly RunId[]> {
  const runs = new Map<Workflow, RunId[]>();
  for (const { workflow, run } of refs) runs.set(workflow, [...(runs.get(workflow) ?? []), run]);
  return runs;
}
