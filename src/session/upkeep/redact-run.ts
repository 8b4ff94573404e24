/** Removes content for good from a recorded run, and from the runs that served it: workers have the same arguments and results there. */
import type { JournalEvent } from '../../../journal/event.js';
import type { BlobId, RunRef } from '../../../journal/ids.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { removeIndex } from '../../../replay/memo/index-on-disk.js';
import { CRASHED_RUNS } from '../../../replay/reports/summary/crashed-runs.js';
import { forEachDigest } from '../../../replay/upkeep/blob-references.js';
import { keysInside, operationsOf } from '../../../replay/upkeep/calls-elsewhere.js';
import { runsAsOne } from '../../../replay/upkeep/runs-as-one.js';
import { redactEvent, type RedactionRequest } from '../../../replay/upkeep/redaction.js';
import { MlldError } from '../../errors.js';
import { allRuns } from '../recorded-run.js';
import { collectBlobs, type BlobsLeft } from './collect-blobs.js';
import { keeperOf } from './keeper-of.js';
import { redactionRequest } from './redaction-request.js';

export type RedactOptions = Pick<RedactionRequest, 'match' | 'reason'> & {
  /** Only this operation of the run and what is inside it, and the calls of these in the runs that served it. */
  readonly op: string | undefined;
  /** ISO 8601. */
  readonly at: string;
  readonly dryRun: boolean;
};

export interface RedactionReport {
  readonly run: string;
  /** The runs that are redacted with it: those that served it, or the run that it served and others that did. */
  readonly serving: readonly string[];
  readonly dryRun: boolean;
  /** Events that were changed. */
  readonly events: number;
  /** Results of `llm` calls among what was taken out: a call that has no other result is executed again. */
  readonly results: number;
  /** Blobs that were removed. */
  readonly blobs: number;
  readonly blobsLeft: BlobsLeft | null;
  /** Blobs that this run doesn't name any more and another one does. */
  readonly sharedBlobs: readonly BlobId[];
  /** Lines that can't be read, or not be changed. They were left as they are, and may hold anything. */
  readonly unread: readonly UnreadLines[];
  /** The statements that the owner of the store has to run, because this user may not: dead rows of the tables still hold the content. */
  readonly vacuum: string | null;
}

/** Neighbouring lines of one run. */
export interface UnreadLines {
  readonly run: string;
  /** The number of the first one, one-based; null where it is not known. */
  readonly line: number | null;
  readonly message: string;
}

/** Throws RUN_RUNNING while any run is in flight. A dry run changes nothing. `root` is the folder of the project. */
export async function redactRun(
  store: JournalStore,
  root: string,
  ref: RunRef,
  { op, match, reason, at, dryRun }: RedactOptions,
): Promise<RedactionReport> {
  if (!dryRun) await refuseWhileRunning(store);
  const keeper = await keeperOf(store, root);
  if (!dryRun) {
    await keeper.recover();
    await keeper.deleteUnfinished();
  }
  const runs = (await runsAsOne(store, ref)).map((file) => file.ref);
  const keys = op === undefined ? undefined : await keysInside(store, ref, op); // before anything goes; keys stay
  const taken = new Set<BlobId>();
  const unread: UnreadLines[] = [];
  const onDefect = (defect: Defect): void => void unread.push(unreadLines(defect));
  let results = 0;
  let events = 0;
  for (const each of runs) {
    const ops = keys && (each.run === ref.run ? new Set([op as string]) : await operationsOf(store, each, keys));
    if (ops?.size === 0) continue;
    const request = await redactionRequest(store, each, { ops, match, reason });
    const edit = (event: JournalEvent): JournalEvent | undefined => {
      const changed = redactNoting(event, request, taken);
      if (changed !== undefined && isResult(event) && !isResult(changed)) results++;
      return changed;
    };
    if (dryRun) await store.scan(each, (event) => void (events += edit(event) === undefined ? 0 : 1), { onDefect });
    else {
      // Derived data holds beginnings of arguments and places in the old file. Removed before, in case of a kill, and after.
      await removeDerived(store, each);
      events += await keeper.rewriteRun(each, edit, { at, reason }, { onDefect });
      await removeDerived(store, each);
    }
  }
  // Also when nothing was changed: an earlier redaction may have been killed before this.
  const { removed, left } = dryRun ? { removed: [], left: null } : await collectBlobs(store, keeper, { going: [], dryRun });
  const vacuum = dryRun ? undefined : await keeper.purge();
  const shared = [];
  for (const blob of taken) if (!dryRun && left === null && (await store.getBlob(blob)) !== undefined) shared.push(blob);
  const serving = runs.slice(1).map(({ run }) => run);
  return {
    run: ref.run,
    serving,
    dryRun,
    events,
    results,
    blobs: removed.length,
    blobsLeft: left,
    sharedBlobs: shared,
    unread,
    vacuum: vacuum ?? null,
  };
}

function unreadLines({ run: { run }, line, message }: Defect): UnreadLines {
  return { run, line: line ?? null, message };
}

async function removeDerived(store: JournalStore, { workflow }: RunRef): Promise<void> {
  await removeIndex(store, workflow);
  await store.writeDerived(workflow, CRASHED_RUNS, '');
}

/** A run in flight knows the places of results in the old file. */
async function refuseWhileRunning(store: JournalStore): Promise<void> {
  const running = (await allRuns(store)).find(({ liveness }) => liveness === 'running');
  if (running === undefined) return;
  throw new MlldError(
    'RUN_RUNNING',
    `Run ${running.ref.run} of ${running.ref.workflow} is in flight: nothing can be redacted until it ends`,
    {
      hint: 'wait for it, or end it',
    },
  );
}

function redactNoting(event: JournalEvent, request: RedactionRequest, taken: Set<BlobId>): JournalEvent | undefined {
  const changed = redactEvent(event, request);
  if (changed === undefined) return undefined;
  const stays = new Set<BlobId>();
  forEachDigest(changed, (digest) => stays.add(digest));
  forEachDigest(event, (digest) => {
    if (!stays.has(digest)) taken.add(digest);
  });
  return changed;
}

function isResult(event: JournalEvent): boolean {
  return event.type === 'call.completed' && event.unusable === undefined && !('redacted' in event.result);
}
