/**
 * Folds when the results of calls were last made unusable. calls.md 15.1. The memo has one result a call, and forgets a revocation once the
 * call was made again. Results that are reused by their place, of which equal calls have several, are compared with it here.
 */
import { SIMULATED } from '../../journal/facts/simulated-backend.js';
import type { CallKey, EventRef, RunId, Workflow } from '../../journal/ids.js';
import type { JournalStore, RunFile } from '../../journal/store.js';
import { foldRun, startOfRun } from '../fold/fold-run.js';
import { isRecordOfUpkeep } from '../fold/record-of-upkeep.js';
import type { Place, Projection } from '../fold/projection.js';
import { cameLater, type StoredResult } from './stored-result.js';

interface Revocation {
  readonly at: EventRef;
  readonly during?: readonly EventRef[] | undefined;
  /** It can be taken back. */
  readonly isRejection?: true;
}

interface Revocations {
  /** Those of each call that were not taken back, oldest first. */
  readonly byKey: Map<CallKey, Revocation[]>;
  /** Those of all results. */
  readonly resets: Revocation[];
}

const revocations: Projection<Revocations> = {
  initial: () => ({ byKey: new Map(), resets: [] }),
  apply(state, event, { ref }: Place) {
    const at = { run: ref.run, seq: event.seq };
    switch (event.type) {
      case 'memo.invalidated':
        if (event.borrowed !== true) for (const key of event.keys) add(state, key, { at, during: event.during });
        return state;
      case 'memo.reset':
        state.resets.push({ at, during: event.during });
        return state;
      case 'result.rejected':
        add(state, event.key, { at, isRejection: true });
        return state;
      case 'result.restored': {
        const known = state.byKey.get(event.key);
        if (known?.at(-1)?.isRejection) known.pop();
        return state;
      }
      default:
        return state;
    }
  },
};

function add({ byKey }: Revocations, key: CallKey, revocation: Revocation): void {
  const known = byKey.get(key);
  if (known) known.push(revocation);
  else byKey.set(key, [revocation]);
}

/** Tells whether a result was revoked since it was recorded. */
export type IsRevoked = (key: CallKey, result: Pick<StoredResult, 'ref' | 'seq'>) => boolean;

/**
 * Reads the runs that are over, with marks, since the last one that completed and was no trial, behind which results are used all the same.
 * Results of other runs, and of this one, are not revoked.
 */
export async function loadRevocations(store: JournalStore, workflow: Workflow): Promise<IsRevoked> {
  const runs = (await store.runs(workflow)).filter(({ liveness }) => liveness !== 'running');
  const state = revocations.initial();
  const order = new Map<RunId, number>();
  for (const { ref } of runs.slice((await lastComplete(store, runs)) + 1)) {
    order.set(ref.run, order.size);
    await foldRun(store, ref, { ...revocations, initial: () => state }, { onDefect: () => undefined });
  }
  return (key, result) =>
    [...(state.byKey.get(key) ?? []), ...state.resets].some(({ at, during }) => {
      const recorded = order.get(result.ref.run);
      if (recorded === undefined || cameLater(result, during)) return false;
      const since = (order.get(at.run) ?? 0) - recorded;
      return since > 0 || (since === 0 && at.seq > result.seq);
    });
}

/** Returns the place of the last run that completed and was no trial; -1 where there is none. */
async function lastComplete(store: JournalStore, runs: readonly RunFile[]): Promise<number> {
  for (const [place, file] of [...runs.entries()].toReversed()) {
    if (isComplete(file) && (await startOfRun(store, file.ref))?.backend !== SIMULATED) return place;
  }
  return -1;
}

function isComplete(file: RunFile): boolean {
  return file.finished?.status === 'completed' && !isRecordOfUpkeep(file);
}
