/**
 * Finds the runs that hold events of a type, or in a version of the format, that this program does not know: a newer program wrote them,
 * or another one appended facts of its own. What such events mean is unknown, so nothing that removes or forgets may touch their run.
 */
import { isKnownType } from '../../journal/durability.js';
import type { Json } from '../../journal/event.js';
import { isRunId, type RunId } from '../../journal/ids.js';
import type { JournalStore, RunFile } from '../../journal/store.js';
import { foldRun } from '../fold/fold-run.js';
import type { Projection } from '../fold/projection.js';

export interface UnknownEvents {
  /** Types, in the order in which they were met. */
  readonly types: Set<string>;
  /** Runs that these events name: they may need them. */
  readonly names: Set<RunId>;
}

/** Folds the events of one run. */
export const unknownEvents: Projection<UnknownEvents> = {
  initial: () => ({ types: new Set(), names: new Set() }),
  apply(state, event) {
    if (isKnownType(event.type)) return state;
    state.types.add(event.type);
    // An event is a line of JSON.
    noteNames(event as unknown as Json, state.names);
    return state;
  },
};

/** A run that is left alone. `types` is empty where not even the version of the format is known. */
export interface UnknownRun {
  readonly run: RunId;
  readonly types: readonly string[];
}

/** Reads the runs in full. */
export async function unknownRuns(store: JournalStore, files: readonly RunFile[]): Promise<readonly UnknownRun[]> {
  const found: UnknownRun[] = [];
  for (const { ref } of files) {
    let isNewer = false;
    const { types } = await foldRun(store, ref, unknownEvents, {
      onDefect: ({ kind }) => void (isNewer ||= kind === 'unknown-version'),
    });
    if (isNewer || types.size > 0) found.push({ run: ref.run, types: [...types] });
  }
  return found;
}

function noteNames(value: Json, names: Set<RunId>): void {
  if (typeof value === 'string') {
    if (isRunId(value)) names.add(value);
  } else if (typeof value === 'object' && value !== null) for (const member of Object.values(value) as Json[]) noteNames(member, names);
}
