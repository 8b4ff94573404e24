/** `mlld journal redact RUN --op PATH|--match REGEX`: removes content from a recorded run for good. */
import { openDeleter } from '../../../src/api/commands/gc.js';
import { rewriteRun, CRASHED_RUNS, forEachDigest, redactEvent } from '../../../src/api/commands/redact.js';
import type { JournalEvent } from '../../../journal/event.js';
import type { BlobId, RunRef } from '../../../src/api/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { RedactionRequest } from '../../../replay/upkeep/redaction.js';
import { MlldError } from '../../../src/errors.js';
import { allRuns, resolveRun } from '../../../src/api/recorded-runs.js';
import { collectBlobs, type BlobsLeft } from './collect-blobs.js';
import type { Io } from '../../terminal/io.js';
import { openProject } from '../open-project.js';
import { patternOf, redactionRequest } from '../../options/redaction-options.js';
import { counted, LEFT } from '../../render/reports/garbage-collection.js';

interface RedactOptions {
  readonly op?: string;
  readonly match?: string;
  readonly reason: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** The report that `--json` prints. */
interface RedactionReport {
  readonly run: string;
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
}

export async function redact(io: Io, text: string, options: RedactOptions): Promise<void> {
  const { op, match, reason, dryRun = false } = options;
  if (op === undefined && match === undefined) {
    throw new MlldError('USAGE', 'journal redact needs --op PATH or --match REGEX', { hint: 'mlld journal redact --help' });
  }
  const pattern = match === undefined ? undefined : patternOf('--match', match);
  const { project, store } = await openProject(io);
  const { ref } = await resolveRun(store, project, text);
  if (op !== undefined) await refuseUnknownOperation(store, ref, op);
  if (!dryRun) await refuseWhileRunning(store);
  const deleter = openDeleter(project.root);
  if (!dryRun) {
    await deleter.recover();
    await deleter.deleteUnfinished(await deleter.unfinishedFiles());
  }
  const request = await redactionRequest(store, ref, { op, match: pattern, reason });
  const taken = new Set<BlobId>();
  let results = 0;
  const edit = (event: JournalEvent): JournalEvent | undefined => {
    const changed = redactNoting(event, request, taken);
    if (changed !== undefined && isResult(event) && !isResult(changed)) results++;
    return changed;
  };

  let events = 0;
  if (dryRun) await store.scan(ref, (event) => void (events += edit(event) === undefined ? 0 : 1));
  else {
    // Derived data holds beginnings of arguments and places in the old file. Removed before, in case of a kill, and after.
    await removeDerived(store, ref);
    events = await rewriteRun(project.root, ref, edit, { at: new Date(io.todayMs()).toISOString(), reason });
    await removeDerived(store, ref);
  }
  // Also when nothing was changed: an earlier redaction may have been killed before this.
  const { removed, left } = dryRun ? { removed: [], left: null } : await collectBlobs(store, deleter, { going: [], dryRun });
  const shared = [];
  for (const blob of taken) if (!dryRun && left === null && (await store.getBlob(blob)) !== undefined) shared.push(blob);
  const report: RedactionReport = { run: ref.run, dryRun, events, results, blobs: removed.length, blobsLeft: left, sharedBlobs: shared };
  io.stdout(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : render(report));
}

async function removeDerived(store: JournalStore, { workflow }: RunRef): Promise<void> {
  for (const name of ['index', CRASHED_RUNS]) await store.writeDerived(workflow, name, '');
}

/** Redaction keeps the paths of operations, so one that the run does not have was misspelt, and its content would not be removed. */
async function refuseUnknownOperation(store: JournalStore, ref: RunRef, op: string): Promise<void> {
  const { findOperation } = await import('./unmatched-filters.js');
  const { found, near } = await findOperation(store, ref, op);
  if (found) return;
  throw new MlldError('USAGE', `--op ${op}: run ${ref.run} has no such operation, nothing was removed`, {
    hint: near === undefined ? `mlld journal show ${ref.run} names the operations` : `did you mean ${near}?`,
  });
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

function render({ run, dryRun, events, results, blobs, blobsLeft, sharedBlobs }: RedactionReport): string {
  const lines = [
    dryRun
      ? `Would change ${counted(events, 'event')} of ${run}.`
      : `Changed ${counted(events, 'event')} of ${run}, removed ${counted(blobs, 'blob')}.`,
    ...(results === 0
      ? []
      : [`${counted(results, 'result')} of llm calls among them: a call that has no other result is executed again by the next run.`]),
    ...(blobsLeft === null ? [] : [LEFT[blobsLeft]]),
    ...(sharedBlobs.length === 0
      ? []
      : [`${counted(sharedBlobs.length, 'blob')} kept, because another run has the same: redact that run too (mlld journal list).`]),
  ];
  return `${lines.join('\n')}\n`;
}
