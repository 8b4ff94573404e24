/** Puts a run into one file, with the runs and blobs that are needed to read it elsewhere, and adds it to another journal. */
import type { JournalEvent } from '../../../journal/event.js';
import type { BlobId, RunRef } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import {
  otherRunThere,
  packBundle,
  storeBundle,
  unpackBundle,
  wholeLines,
  type BundledRun,
  type StoredRun,
} from '../../../journal/upkeep/bundle.js';
import { verifyRun } from '../../../replay/reports/audit/verify.js';
import { blobsOf, runsToBundle } from '../../../replay/upkeep/bundle-closure.js';
import { runsAsOne } from '../../../replay/upkeep/runs-as-one.js';
import { redactEvent } from '../../../replay/upkeep/redaction.js';
import { MlldError } from '../../errors.js';
import { keeperOf } from './keeper-of.js';
import { redactionRequest } from './redaction-request.js';

const REASON = 'redacted for the bundle';

export interface PackedRun {
  readonly packed: Uint8Array;
  readonly runs: readonly RunRef[];
  /** The number of blobs. */
  readonly blobs: number;
}

/**
 * Leaves out what `match` finds; the journal itself is not changed. `root` is the folder of the project, `at` the present in ISO 8601.
 * Throws RUN_RUNNING, also for a run that serves it, and BUNDLE_DAMAGED when a run of it does not verify.
 */
export async function bundleRun(
  store: JournalStore,
  root: string,
  { ref }: RunFile,
  { match, at }: { readonly match: RegExp | undefined; readonly at: string },
): Promise<PackedRun> {
  const running = (await runsAsOne(store, ref)).find(({ liveness }) => liveness === 'running');
  if (running !== undefined) {
    const serving = running.ref.run === ref.run ? '' : `, and one with run ${ref.run}`;
    throw new MlldError('RUN_RUNNING', `Run ${running.ref.run} is in flight${serving}: it can be bundled when it has ended`);
  }
  const keeper = await keeperOf(store, root);
  const because = { at, reason: REASON };
  const runs: BundledRun[] = [];
  const blobs = new Map<BlobId, Uint8Array>();
  for (const each of await runsToBundle(store, ref)) {
    await refuseDamaged(store, each, 'in the journal');
    const request = match && (await redactionRequest(store, each, { ops: undefined, match, reason: REASON }));
    const edit = (event: JournalEvent): JournalEvent | undefined => request && redactEvent(event, request);
    const lines = await keeper.editedLines(each, edit, because);
    // A torn tail can't be searched for the match.
    runs.push({ ref: each, lines: match === undefined ? lines : wholeLines(lines) });
    for (const [id, content] of await blobsOf(store, each, edit)) blobs.set(id, content);
  }
  return { packed: await packBundle({ runs, blobs }), runs: runs.map((run) => run.ref), blobs: blobs.size };
}

/**
 * Verifies the bundle in `scratch`, an empty folder, before anything is added to the store of the project at `root`.
 * Throws BUNDLE_DAMAGED and JOURNAL_RUN_EXISTS.
 */
export async function unbundleRuns(
  packed: Uint8Array,
  { store, root, scratch }: { readonly store: JournalStore; readonly root: string; readonly scratch: string },
): Promise<readonly StoredRun[]> {
  const unpacked = await unpackBundle(packed);
  for (const { ref } of unpacked.runs) {
    const there = await store.find(ref.run);
    // Commands name a run by its id alone: `redact` would find the one of the bundle, and leave the other as it is.
    if (there !== undefined && there.workflow !== ref.workflow) throw otherRunThere(there);
  }
  // A journal is no place to find out that a bundle was damaged.
  await storeBundle(scratch, unpacked);
  for (const { ref } of unpacked.runs) await refuseDamaged(openFileStore(scratch), ref, 'in the bundle');
  return (await keeperOf(store, root)).storeBundle(unpacked);
}

async function refuseDamaged(store: JournalStore, ref: RunRef, where: string): Promise<void> {
  const { ok, defects, violations } = await verifyRun(store, ref);
  if (ok) return;
  const [first] = [...defects.filter(({ kind }) => kind !== 'torn-tail'), ...violations];
  throw new MlldError('BUNDLE_DAMAGED', `Run ${ref.run} is damaged ${where}: ${first?.message ?? 'it does not verify'}`, {
    hint: `mlld journal verify ${ref.run} says what is lost`,
  });
}
