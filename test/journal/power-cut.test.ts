/** A power cut leaves all that was acknowledged, and a replaced file either as it was or as it shall be. */
import { expect, it } from 'vitest';
import { openDeleter } from '../../journal/upkeep/delete-runs.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { JournalEvent } from '../../journal/event.js';
import { workflowOf } from '../../journal/ids.js';
import { rewriteRun } from '../../journal/upkeep/rewrite.js';
import { callCompleted, callStarted, finished, opStarted, runRef, started, workflow } from './support/facts.js';
import { temporaryFolder } from './support/folder.js';
import { factOf, readRun } from './support/read.js';
import { volatileDisk } from './support/volatile-disk.js';

const BIG = 'x'.repeat(100_000);
const RUN = runRef(1);

async function factsIn(root: string, ref = RUN): Promise<readonly unknown[]> {
  return (await readRun(openFileStore(root), ref)).events.map(factOf);
}

it('leaves every fact that was promised to be on disk', async () => {
  const root = temporaryFolder();
  const { disk, left } = volatileDisk(root);
  const journal = await openFileStore(root, { disk }).create(RUN);
  await journal.append(started);
  expect(await factsIn(left())).toEqual([started]);
  journal.post(opStarted(0));
  await journal.append(callStarted(0));
  expect(await factsIn(left())).toEqual([started]); // with the kernel, which is gone
  await Promise.all([journal.append(callCompleted(0)), journal.append(callCompleted(1))]);
  const paid = [started, opStarted(0), callStarted(0), callCompleted(0), callCompleted(1)];
  expect(await factsIn(left())).toEqual(paid);
  journal.post(opStarted(1));
  await journal.close();
  expect(await factsIn(left())).toEqual([...paid, opStarted(1)]);
});

it('leaves the large and the secret results that an event names, and the key that opens them', async () => {
  const root = temporaryFolder();
  const { disk, left } = volatileDisk(root);
  const store = openFileStore(root, { disk });
  const [large, secret] = [await store.payload(BIG), await store.secretPayload('a token', 'call 1')];
  const after = openFileStore(left());
  expect(await after.resolve(large)).toBe(BIG);
  expect(await after.resolve(secret, 'call 1')).toBe('a token');
});

it('leaves a large result that another process had put there and not made durable', async () => {
  const root = temporaryFolder();
  const { disk, left } = volatileDisk(root);
  // Renamed, and killed before the folder was synced.
  const dying = {
    ...disk,
    rename: async (from: string, to: string) => disk.rename(from, to).then(() => Promise.reject(new Error('killed'))),
  };
  await expect(openFileStore(root, { disk: dying }).putBlob(BIG)).rejects.toThrow('killed');
  const { blob } = await openFileStore(root, { disk }).putBlob(BIG);
  expect(await openFileStore(left()).getBlob(blob)).toBeDefined();
});

it('leaves what is kept beside the runs as it was or as it is', async () => {
  const root = temporaryFolder();
  const volatile = volatileDisk(root);
  const store = openFileStore(root, { disk: volatile.disk });
  await store.writeDerived(workflow, 'index', 'old');
  const folders: string[] = [];
  volatile.onChange = () => void folders.push(volatile.left());
  await store.writeDerived(workflow, 'index', 'new');
  const found = await Promise.all(folders.map(async (folder) => String(await openFileStore(folder).readDerived(workflow, 'index'))));
  expect(found).toContain('old');
  expect(found.at(-1)).toBe('new');
  expect(found.filter((text) => text !== 'old' && text !== 'new')).toEqual([]);
});

it('leaves a run that is rewritten as it was or as it shall be', async () => {
  const root = temporaryFolder();
  const volatile = volatileDisk(root);
  const journal = await openFileStore(root, { disk: volatile.disk }).create(RUN);
  for (const fact of [started, callCompleted(0), finished]) await journal.append(fact);
  await journal.close();
  const folders: string[] = [];
  volatile.onChange = () => void folders.push(volatile.left());
  const edit = (event: JournalEvent) => (event.type === 'call.completed' ? { ...event, result: { redacted: 'asked' } } : undefined);
  expect(await rewriteRun(root, RUN, edit, { at: '2026-11-21T08:45:12.123Z', reason: 'asked' }, volatile.disk)).toBe(1);
  const results = await Promise.all(
    folders.map(async (folder) => {
      const { events, defects } = await readRun(openFileStore(folder), RUN);
      expect(defects).toEqual([]);
      expect(events).toHaveLength(3);
      return events[1]?.type === 'call.completed' && 'redacted' in events[1].result ? 'new' : 'old';
    }),
  );
  expect(results).toContain('old');
  expect(results.at(-1)).toBe('new');
});

it('leaves of runs that were removed one after the other a beginning of that order gone', async () => {
  const root = temporaryFolder();
  const volatile = volatileDisk(root);
  const runs = [runRef(1), runRef(2, workflowOf('other.mld')), runRef(3)];
  for (const ref of runs) {
    const journal = await openFileStore(root, { disk: volatile.disk }).create(ref);
    await journal.append(started);
    await journal.close();
  }
  const folders: string[] = [];
  volatile.onChange = () => void folders.push(volatile.left());
  const deleter = openDeleter(root, volatile.disk);
  for (const ref of runs.slice(0, 2)) await deleter.deleteRun(ref);
  const found = await Promise.all(
    folders.map(async (folder) =>
      (await Promise.all(runs.map((ref) => openFileStore(folder).find(ref.run)))).map((ref) => ref !== undefined),
    ),
  );
  for (const [first, second, third] of found) expect([first && !second, third]).toEqual([false, true]);
  expect(found.at(-1)).toEqual([false, false, true]);
});
