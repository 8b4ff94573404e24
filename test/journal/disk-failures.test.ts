import { readdirSync, rmSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { realDisk } from '../../journal/storage/disk.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { MAY_LAG } from '../../journal/durability.js';
import type { Fact } from '../../journal/event.js';
import type { Recorded } from '../../journal/store.js';
import { words } from './packs/related-texts.js';
import { callCompleted, callStarted, finished, opStarted, runRef, started, workflow } from './support/facts.js';
import { failingDisk, type Trouble } from './support/failing-disk.js';
import { temporaryFolder } from './support/folder.js';
import { factOf, readRun } from './support/read.js';

const big = words('result', 80_000);
const larger = `${big}${words('more', 3000)}`;

/** A run that uses everything: returns what was acknowledged, and every error that was heard of. */
async function record(root: string, disk: ReturnType<typeof failingDisk>['disk']) {
  let acknowledged: { fact: Fact; recorded: Recorded }[] = [];
  const errors: unknown[] = [];
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const store = openFileStore(root, { disk });
  const journal = await attempt(() => store.create(runRef(1), { waitMs: 40 }));
  if (!journal) return { acknowledged, errors };
  const append = async (fact: Fact): Promise<void> => {
    const recorded = await attempt(() => journal.append(fact));
    if (recorded) acknowledged.push({ fact, recorded });
  };
  await append(started);
  journal.post(opStarted(0));
  await append(callStarted(0));
  await Promise.all([append(callCompleted(0)), append(callStarted(1)), append(callCompleted(1))]);
  for (const value of [big, larger]) {
    const payload = await attempt(async () => store.payload(value));
    if (payload) await append({ ...callCompleted(2), result: payload } as Fact);
  }
  await attempt(() => store.writeDerived(workflow, 'index', 'index of three'));
  journal.post(opStarted(1));
  await append(finished);
  const closed = await attempt(async () => (await journal.close(), true));
  // These don't wait for a disk that takes nothing; only the end says whether it took them.
  if (!closed) acknowledged = acknowledged.filter(({ fact }) => !MAY_LAG.has(fact.type));
  return { acknowledged, errors };
}

it.each<Trouble>(['ENOSPC', 'EIO', 'EACCES', 'full', 'short', 'dead'])(
  'keeps all that it acknowledged when any call to the disk goes wrong: %s',
  async (trouble) => {
    let everFailed = 0;
    for (let n = 1; ; n++) {
      const root = temporaryFolder();
      const failing = failingDisk(n, trouble);
      const { acknowledged, errors } = await record(root, failing.disk);
      const store = openFileStore(root);
      const { events, defects } = await readRun(store, runRef(1));

      for (const { fact, recorded } of acknowledged) {
        const event = await store.readAt(runRef(1), recorded.position);
        expect(event && factOf(event), `call ${n}`).toEqual(fact);
        if (event?.type !== 'call.completed' || !('blob' in event.result)) continue;
        expect([big, larger], `call ${n}`).toContain(await store.resolve(event.result));
      }
      expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i)); // WRITER-5: a prefix
      const kinds = defects.map(({ kind }) => kind).filter((kind) => kind !== 'unreadable');
      expect(kinds, `call ${n}`).toEqual(trouble === 'dead' && kinds.length > 0 ? ['torn-tail'] : []); // WRITER-6
      if (trouble !== 'dead')
        for (const error of errors) expect(error).toMatchObject({ name: 'JournalError', code: expect.stringMatching(/^JOURNAL_/) });
      const index = await store.readDerived(workflow, 'index');
      expect([undefined, 'index of three']).toContain(index && Buffer.from(index).toString());
      if (errors.length > 0) everFailed++;
      // A call that fails once costs nothing, but for the blob and the index, which others try again.
      if (errors.length === 0) expect(events, `call ${n}`).toHaveLength(10);
      if (!failing.struck()) {
        expect(errors).toEqual([]);
        expect(n).toBeGreaterThan(30);
        break;
      }
    }
    if (trouble === 'short') expect(everFailed).toBe(0);
    else expect(everFailed).toBeGreaterThan(3);
  },
);

it('tells of no result that a failed sync covered before it was written and synced again', async () => {
  const root = temporaryFolder();
  const finish: ((error: Error | null) => void)[] = [];
  const store = openFileStore(root, { disk: { ...realDisk, sync: (_file, done) => void finish.push(done) } });
  const journal = await store.create(runRef(1), { waitMs: 10_000 });
  const settled: string[] = [];
  const watch = (name: string, promise: Promise<unknown>) => promise.then(() => settled.push(name));
  const all = [watch('first', journal.append(callCompleted(0))), watch('written', journal.append(callStarted(1)))];
  await new Promise(setImmediate);
  all.push(watch('later', journal.append(callCompleted(1))));
  await new Promise(setImmediate);
  expect(settled).toEqual(['written']); // WRITER-3: with the kernel, and needs no sync
  expect(finish).toHaveLength(1); // WRITER-4: one at a time
  finish[0]?.(Object.assign(new Error('EIO: made up'), { code: 'EIO' }));
  await vi.waitFor(() => expect(finish).toHaveLength(2));
  expect(settled).toEqual(['written']);
  finish[1]?.(null);
  await Promise.all(all);
  expect(settled).toEqual(['written', 'first', 'later']);
  await journal.close();
  expect((await readRun(openFileStore(root), runRef(1))).events.map(factOf)).toEqual([callCompleted(0), callStarted(1), callCompleted(1)]);
});

it('shares one sync between all that came while another was under way', async () => {
  const { disk } = failingDisk(Infinity, 'EIO');
  const finish: ((error: Error | null) => void)[] = [];
  const store = openFileStore(temporaryFolder(), { disk: { ...disk, sync: (_file, done) => void finish.push(done) } });
  const journal = await store.create(runRef(1));
  const settled: number[] = [];
  const append = (n: number) => journal.append(callCompleted(n)).then(() => settled.push(n));
  const first = append(0);
  await new Promise(setImmediate);
  const rest = Array.from({ length: 50 }, (_, n) => append(n + 1));
  await new Promise(setImmediate);
  expect(finish).toHaveLength(1);
  finish[0]?.(null);
  await first;
  expect(settled).toEqual([0]);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(finish).toHaveLength(2);
  finish[1]?.(null);
  await Promise.all(rest);
  expect(settled).toHaveLength(51);
  expect(finish).toHaveLength(2);
  const closed = journal.close();
  await new Promise(setImmediate);
  expect(finish).toHaveLength(2); // nothing is unsynced
  await closed;
});

it('shares one sync between calls that complete in one tick, whichever of them waited first', async () => {
  const { disk } = failingDisk(Infinity, 'EIO');
  let syncs = 0;
  const sync = (_file: number, done: (error: null) => void): void => {
    syncs++;
    setTimeout(done, 1, null);
  };
  const journal = await openFileStore(temporaryFolder(), { disk: { ...disk, sync } }).create(runRef(1));
  const [lanes, rounds] = [20, 10];
  const lane = async (n: number): Promise<void> => {
    if (n % 2 === 1) await journal.append(callCompleted(n)); // half of them are appended while the first sync is in flight
    for (let round = 0; round < rounds; round++) {
      await journal.append(callStarted(n));
      await journal.append(callCompleted(n));
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, n) => lane(n)));
  await journal.close();
  expect(syncs).toBeLessThanOrEqual(rounds + 2);
});

it('leaves no temporary files behind when a blob cannot be stored', async () => {
  const root = temporaryFolder();
  for (let n = 1; ; n++) {
    const failing = failingDisk(n, 'EIO');
    const stored = await openFileStore(root, { disk: failing.disk })
      .putBlob(`content ${n}`)
      .catch(() => undefined);
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'));
    expect(names).toEqual([]);
    if (!failing.struck()) {
      expect(stored).toBeDefined();
      break;
    }
  }
});

it('takes a journal that is deleted while it is written for one that can’t be written', async () => {
  const root = temporaryFolder();
  const journal = await openFileStore(root).create(runRef(1), { waitMs: 40 });
  await journal.append(started);
  rmSync(root, { recursive: true });
  await expect(journal.append(callCompleted(0))).rejects.toMatchObject({ message: expect.stringContaining('was deleted while') as string });
  await journal.close().catch(() => undefined);
});

it('asks a file system for no names that it does not count', async () => {
  const root = temporaryFolder();
  const journal = await openFileStore(root, { disk: { ...realDisk, isNameless: () => true } }).create(runRef(1), { waitMs: 40 });
  await journal.append(started);
  await journal.append(callCompleted(0));
  await journal.close();
  expect((await readRun(openFileStore(root), runRef(1))).events).toHaveLength(2);
});
