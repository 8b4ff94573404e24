/**
 * Finds the calls that workers had begun for a run and recorded no end of: killed, they can't say what the calls have cost. Another worker
 * may have executed them since. team-store.md 15, I2.
 */
import type { CallKey, OpPath, RunId, Seq } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { sealedRunOf } from '../../fold/calls/salvaged-attempts.js';
import { startOfRun } from '../../fold/fold-run.js';
import { previewOf } from '../../fold/preview.js';
import { isSalvageRun } from '../../fold/record-of-upkeep.js';
import { reportTeam, type TeamCalls, type TeamReport } from './team-calls.js';
import { workerOfRun } from '../summary/worker-of-run.js';

export interface UnendedCall {
  /** The name of the worker. */
  readonly worker: string;
  readonly host: string;
  /** The worker's run, and the event of it that began the call. */
  readonly run: RunId;
  readonly seq: Seq;
  readonly fn: string;
  readonly key: CallKey;
  readonly op: OpPath;
  /** The first argument as text, clipped; absent for a secret. */
  readonly preview?: string;
}

/** `unended`: the calls that workers had begun for the run, and can record no end of any more. Each may have cost something. */
export interface TeamRecord extends TeamReport {
  readonly unended: readonly UnendedCall[];
}

/** `runs` are those of the workflow, oldest first, and asked for where workers may have served the run. */
export async function recordOfTeam(
  store: JournalStore,
  file: RunFile,
  team: TeamCalls,
  runs: () => Promise<readonly RunFile[]>,
): Promise<TeamRecord> {
  // The last offers of a run that was killed may not be recorded.
  const mayBeServed = team.hasOffered || file.liveness !== 'finished';
  return { ...reportTeam(team), unended: mayBeServed ? await unendedAtWorkers(store, file, await runs()) : [] };
}

async function unendedAtWorkers(store: JournalStore, { ref }: RunFile, runs: readonly RunFile[]): Promise<readonly UnendedCall[]> {
  const unended: UnendedCall[] = [];
  for (const file of runs) {
    if (file.isWorker !== true || file.liveness !== 'crashed') continue; // a worker that is alive may still record an end
    const served = await workerOfRun(store, file);
    if (served?.for !== ref.run) continue;
    const begun = await begunIn(store, file, served.name);
    if (begun.size > 0) await forgetSalvaged(store, file, runs, begun);
    unended.push(...begun.values());
  }
  return unended;
}

async function begunIn(store: JournalStore, { ref }: RunFile, worker: string): Promise<Map<OpPath, UnendedCall>> {
  const begun = new Map<OpPath, UnendedCall>();
  const host = (await startOfRun(store, ref))?.host ?? '';
  await store.scan(
    ref,
    (event) => {
      if (event.type === 'call.started') {
        const { seq, fn, key, op, preview = previewOf(event.args) } = event;
        begun.set(op, { worker, host, run: ref.run, seq, fn, key, op, ...(preview !== undefined && { preview }) });
      } else if (event.type === 'call.completed' || event.type === 'call.failed' || event.type === 'call.withdrawn') {
        begun.delete(event.op);
      }
    },
    { onDefect: () => undefined }, // damage in other runs is not part of the report
  );
  return begun;
}

/** The ends of the calls of a sealed run are in a run of their own. */
async function forgetSalvaged(
  store: JournalStore,
  { ref: { run } }: RunFile,
  runs: readonly RunFile[],
  begun: Map<OpPath, UnendedCall>,
): Promise<void> {
  for (const file of runs) {
    if (file.ref.run <= run || !isSalvageRun(file)) continue;
    if ((await sealedRunOf(store, file)) !== run) continue;
    await store.scan(
      file.ref,
      (event) => {
        if (event.type !== 'call.started' || event.begun?.run !== run) return;
        for (const [op, { seq }] of begun) if (seq === event.begun.seq) begun.delete(op);
      },
      { onDefect: () => undefined },
    );
  }
}
