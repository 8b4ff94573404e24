/**
 * Invalidates what is recorded of a script by recording a run of its own: nothing is deleted, and the journal shows when and by whom it was
 * done.
 */
import { seqOf, type RunRef } from '../../../journal/ids.js';
import type { FactOf } from '../../../journal/event.js';
import { concurrentRuns } from '../../../replay/memo/load.js';
import { usable } from '../../../replay/memo/memo.js';
import { unknownRuns, type UnknownRun } from '../../../replay/upkeep/unknown-events.js';
import { hostFacts } from '../../world/host.js';
import { createRun } from '../ports/create-run.js';
import type { RecordedScript } from './recorded-script.js';

/** Says who cleans: members of the `run.started` of the run that records it. */
export type Cleaner = Pick<FactOf<'run.started'>, 'argv' | 'host' | 'user' | 'pid' | 'versions'>;

/** Adds the machine and the user, as a run of a workflow records them: a mark is of a person, too. */
export function recordedBy(command: Pick<Cleaner, 'argv' | 'pid' | 'versions'>): Cleaner {
  const { name: host, user } = hostFacts();
  return { ...command, host, ...(user !== undefined && { user }) };
}

export interface Cleaning {
  /** The run that records it; undefined when no run was cleaned. */
  readonly ref: RunRef | undefined;
  readonly runs: number;
  /** Results that are not usable any more. */
  readonly entries: number;
  /** Runs with events that this program does not know, which are left as they are. */
  readonly left: readonly UnknownRun[];
}

/** Records no run when there is nothing to invalidate. */
export async function cleanScript(recorded: RecordedScript, cleaner: Cleaner, nowMs: () => number): Promise<Cleaning> {
  const left = await unknownRuns(recorded.store, recorded.priorRuns.runs);
  if (recorded.priorRuns.runs.length === left.length) return { ref: undefined, runs: 0, entries: 0, left };
  const counts = countsOf(recorded, left);
  return { ref: await recordCleaning(recorded, left, cleaner, nowMs), ...counts, left };
}

/** Runs that are left alone are recorded like concurrent runs of which no event counts yet: their results stay usable. */
async function recordCleaning(
  { store, name, priorRuns }: RecordedScript,
  left: readonly UnknownRun[],
  cleaner: Cleaner,
  nowMs: () => number,
): Promise<RunRef> {
  const journal = await createRun(store, priorRuns, nowMs);
  const { ref } = journal;
  const { workflow } = ref;
  const beside = await concurrentRuns(store, priorRuns, ref);
  const isLeft = new Set(left.map(({ run }) => run));
  const during = [...beside.filter(({ run }) => !isLeft.has(run)), ...left.map(({ run }) => ({ run, seq: seqOf(-1) }))];
  try {
    await journal.append({ type: 'run.started', workflow, name, payload: {}, flags: {}, ...cleaner });
    await journal.append({ type: 'memo.reset', reason: 'clean', ...(during.length === 0 ? {} : { during }) });
    await journal.append({
      type: 'run.finished',
      status: 'completed',
      cleaned: true,
      totals: { executed: 0, reused: 0, failed: 0, withoutResult: 0 },
    });
  } finally {
    await journal.close();
  }
  return ref;
}

function countsOf({ priorRuns }: RecordedScript, left: readonly UnknownRun[]): { readonly runs: number; readonly entries: number } {
  const isLeft = new Set(left.map(({ run }) => run));
  const entries = [...usable(priorRuns.memo)].filter(([, { result }]) => !isLeft.has(result.ref.run));
  return { runs: priorRuns.runs.length - left.length, entries: entries.length };
}
