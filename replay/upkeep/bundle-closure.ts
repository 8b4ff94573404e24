/**
 * Finds what a bundle of a run needs: the run and those that serve it, the runs whose results they reused or had guards judge, those that
 * it resumes, and the blobs that they name.
 */
import type { JournalEvent } from '../../journal/event.js';
import type { BlobId, RunId, RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { forEachDigest } from './blob-references.js';
import { runsAsOne } from './runs-as-one.js';

/** The run itself first. Runs that are gone are left out. */
export async function runsToBundle(store: JournalStore, ref: RunRef): Promise<readonly RunRef[]> {
  const others = new Set<RunId>();
  let before: RunId | undefined;
  for (const { ref: each } of await runsAsOne(store, ref)) {
    others.add(each.run);
    await store.scan(each, (event) => {
      if (event.type === 'call.reused') others.add(event.from.run);
      else if (event.type === 'call.started' && event.received) others.add(event.received.run);
      else if (event.type === 'run.started') before ??= event.resume?.run;
    });
  }
  for (const run of await lineUpTo(store, before)) others.add(run);
  others.delete(ref.run);
  const found = await Promise.all([...others].sort().map((run) => store.find(run)));
  return [ref, ...found.filter((other) => other !== undefined)];
}

/** Returns a run of a pipeline and the runs that it resumes. */
async function lineUpTo(store: JournalStore, last: RunId | undefined): Promise<readonly RunId[]> {
  const line: RunId[] = [];
  for (let run = last; run !== undefined && !line.includes(run);) {
    line.push(run);
    const ref = await store.find(run);
    run = undefined;
    if (ref) await store.scan(ref, (event) => void (event.type === 'run.started' && (run = event.resume?.run)));
  }
  return line;
}

/** Reads the blobs that the events of a run name after an edit. */
export async function blobsOf(
  store: JournalStore,
  ref: RunRef,
  edit: (event: JournalEvent) => JournalEvent | undefined,
): Promise<ReadonlyMap<BlobId, Uint8Array>> {
  const named = new Set<BlobId>();
  await store.scan(ref, (event) => forEachDigest(edit(event) ?? event, (digest) => named.add(digest)));
  const contents = new Map<BlobId, Uint8Array>();
  for (const blob of named) {
    const content = await store.getBlob(blob);
    if (content !== undefined) contents.set(blob, content);
  }
  return contents;
}
