/**
 * Copies all runs of a project from one store to another: their lines and blobs unchanged, run by run.
 *
 * COPY-1 The blobs of a run are there before the run is, which appears whole or not at all. So a kill leaves whole runs, and copying
 *    again continues behind them.
 * COPY-2 A run that is there already is compared and never replaced.
 * COPY-3 No run is copied whose id a run of another workflow has: commands name a run by its id alone, and would take the other one.
 */
import { JournalError } from '../../../journal/errors.js';
import type { RunRef } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { verifyRun } from '../../../replay/reports/audit/verify.js';
import { forEachDigest } from '../../../replay/upkeep/blob-references.js';
import { keeperOf } from './keeper-of.js';

/**
 * `running`: its writer is not done. `damaged`: it does not verify. `other`: another run of this name is there. `elsewhere`: a run of
 * another workflow has its id.
 */
export type NotCopied = 'running' | 'damaged' | 'other' | 'elsewhere';

export interface CopyReport {
  readonly copied: readonly RunRef[];
  /** Those that were there already, with the same lines. */
  readonly there: readonly RunRef[];
  readonly left: readonly { readonly ref: RunRef; readonly because: NotCopied }[];
}

interface Place {
  readonly store: JournalStore;
  /** The folder of the project. */
  readonly root: string;
}

export async function copyRuns(from: Place, to: Place): Promise<CopyReport> {
  const copied: RunRef[] = [];
  const there: RunRef[] = [];
  const left: { ref: RunRef; because: NotCopied }[] = [];
  for (const workflow of await from.store.workflows()) {
    for (const file of await from.store.runs(workflow)) {
      const did = await copyRun(from, to, file);
      if (did === 'stored') copied.push(file.ref);
      else if (did === 'there') there.push(file.ref);
      else left.push({ ref: file.ref, because: did });
    }
  }
  return { copied, there, left };
}

async function copyRun(from: Place, to: Place, { ref, liveness }: RunFile): Promise<'stored' | 'there' | NotCopied> {
  if (liveness === 'running') return 'running';
  const known = await to.store.find(ref.run);
  if (known !== undefined && known.workflow !== ref.workflow) return 'elsewhere'; // COPY-3
  if (known === undefined) {
    if (!(await verifyRun(from.store, ref)).ok) return 'damaged';
    await copyBlobs(from.store, to.store, ref); // COPY-1
  }
  const lines = await (await keeperOf(from.store, from.root)).lines(ref);
  try {
    const [stored] = await (await keeperOf(to.store, to.root)).storeBundle({ runs: [{ ref, lines }], blobs: new Map() });
    return stored?.did ?? 'there';
  } catch (error) {
    if (error instanceof JournalError && error.code === 'JOURNAL_RUN_EXISTS') return 'other'; // COPY-2
    throw error;
  }
}

/** One at a time: together they may be larger than memory. */
async function copyBlobs(from: JournalStore, to: JournalStore, ref: RunRef): Promise<void> {
  const named = new Set<Parameters<JournalStore['getBlob']>[0]>();
  await from.scan(ref, (event) => forEachDigest(event, (digest) => named.add(digest)));
  for (const blob of named) {
    const content = await from.getBlob(blob);
    if (content !== undefined) await to.putBlob(content);
  }
}
