/** Finds the calls that recorded runs made at a path of `--resume`, or inside it. calls.md 15. */
import type { CallKey } from '../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../journal/store.js';
import { foldRun } from '../fold/fold-run.js';
import { isInside } from '../fold/op-path.js';
import type { Projection } from '../fold/projection.js';
import { textSimilarity } from '../reports/text-similarity.js';

export interface CallsAtPath {
  readonly keys: ReadonlySet<CallKey>;
  /** The run that made them. */
  readonly run?: RunFile;
  /** A run has the operation, with or without calls in it. */
  readonly isRecorded: boolean;
  /** The recorded path that resembles it most; undefined where nothing is recorded. */
  readonly nearest: string | undefined;
}

/** Reads the runs from the latest back to the first one that made such a call; `nearest` is a path of the latest run that has any. */
export async function findCallsAtPath(
  store: JournalStore,
  path: string,
  { runs, onDefect }: { readonly runs: readonly RunFile[]; readonly onDefect: (defect: Defect) => void },
): Promise<CallsAtPath> {
  let [isRecorded, nearest] = [false, undefined as string | undefined];
  for (const run of runs.toReversed()) {
    const found = await foldRun(store, run.ref, callsAtPath(path), { onDefect });
    if (found.keys.size > 0) return { keys: found.keys, run, isRecorded: true, nearest: path };
    isRecorded ||= found.isRecorded;
    nearest ??= found.nearest?.op;
  }
  return { keys: new Set(), isRecorded, nearest };
}

interface PathFacts {
  readonly keys: Set<CallKey>;
  isRecorded: boolean;
  nearest: { readonly op: string; readonly alike: number } | undefined;
}

/** Folds the events of one run. */
function callsAtPath(path: string): Projection<PathFacts> {
  return {
    initial: () => ({ keys: new Set(), isRecorded: false, nearest: undefined }),
    apply(state, event) {
      if (!('op' in event) || event.op === undefined) return state;
      if (!isInside(event.op, path)) {
        const alike = textSimilarity(event.op, path);
        if (alike > (state.nearest?.alike ?? -1)) state.nearest = { op: event.op, alike };
        return state;
      }
      state.isRecorded = true;
      if (event.type === 'call.started' || event.type === 'call.reused' || event.type === 'call.failed') state.keys.add(event.key);
      return state;
    },
  };
}
