import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFileStore } from '../../journal/file-store.js';
import type { Fact } from '../../journal/event.js';
import type { Recorded } from '../../journal/store.js';
import { callCompleted, callStarted, finished, opStarted, runRef, started, workflow } from './support/facts.js';
import { failingDisk, type Trouble } from './support/failing-disk.js';
import { temporaryFolder } from './support/folder.js';
import { factOf, readRun } from './support/read.js';

const big = 'x'.repeat(100_000);

/** A run that uses everything: returns what was acknowledged, and every error that was heard of. */
async function record(root: string, disk: ReturnType<typeof failingDisk>['disk']) {
  const acknowledged: { fact: Fact; recorded: Recorded }[] = [];
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
  const journal = await attempt(() => store.create(runRef(1)));
  if (!journal) return { acknowledged, errors };
  const append = async (fact: Fact): Promise<void> => {
    const recorded = await attempt(() => journal.append(fact));
    if (recorded) acknowledged.push({ fact, recorded });
  };
  await append(started);
  journal.post(opStarted(0));
  await append(callStarted(0));
  await Promise.all([append(callCompleted(0)), append(callStarted(1)), append(callCompleted(1))]);
  const payload = await attempt(async () => store.payload(big));
  if (payload) await append({ ...callCompleted(2), result: payload } as Fact);
  await attempt(() => store.writeAside(workflow, 'index', 'index of three'));
  journal.post(opStarted(1));
  await append(finished);
  await attempt(() => journal.close());
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
        if (event?.type === 'call.completed' && 'blob' in event.result) expect(await store.resolve(event.result)).toBe(big);
      }
      expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i)); // J5: a prefix
      const kinds = defects.map(({ kind }) => kind).filter((kind) => kind !== 'unreadable');
      expect(kinds, `call ${n}`).toEqual(trouble === 'dead' && kinds.length > 0 ? ['torn-tail'] : []); // J6
      if (trouble !== 'dead')
        for (const error of errors) expect(error).toMatchObject({ name: 'JournalError', code: expect.stringMatching(/^JOURNAL_/) });
      const index = await store.readAside(workflow, 'index');
      expect([undefined, 'index of three']).toContain(index && Buffer.from(index).toString());
      if (errors.length > 0) everFailed++;
      if (!failing.struck()) {
        expect(errors).toEqual([]);
        expect(events).toHaveLength(9);
        expect(n).toBeGreaterThan(30);
        break;
      }
    }
    if (trouble === 'short') expect(everFailed).toBe(0);
    else expect(everFailed).toBeGreaterThan(3);
  },
);

it('stays failed after a failed write, and says why each time', async () => {
  const root = temporaryFolder();
  let isFull = false;
  const { disk } = failingDisk(Infinity, 'full');
  const store = openFileStore(root, {
    disk: {
      ...disk,
      write(...args) {
        if (isFull) throw Object.assign(new Error('ENOSPC: made up'), { code: 'ENOSPC' });
        return disk.write(...args);
      },
    },
  });
  const journal = await store.create(runRef(1));
  await journal.append(started);
  isFull = true;
  const [first, second] = await Promise.allSettled([journal.append(callStarted(1)), journal.append(callCompleted(1))]);
  isFull = false;
  expect(first).toMatchObject({ status: 'rejected', reason: { code: 'JOURNAL_DISK_FULL', hint: expect.stringContaining('space') } });
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'JOURNAL_DISK_FULL' } });
  expect(() => journal.post(opStarted(1))).not.toThrow();
  await expect(journal.append(finished)).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  await expect(journal.flush()).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  await expect(journal.close()).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  const { events, defects } = await readRun(openFileStore(root), runRef(1));
  expect(events.map(factOf)).toEqual([started]);
  expect(defects).toEqual([]);
});

it('leaves a torn tail when what a failed write left behind cannot be cut off', async () => {
  const root = temporaryFolder();
  const { disk } = failingDisk(Infinity, 'EIO');
  let writes = 0;
  const store = openFileStore(root, {
    disk: {
      ...disk,
      write(file, bytes, start, length) {
        // The lock is the first write, the first event the second.
        if (++writes <= 2) return disk.write(file, bytes, start, length);
        disk.write(file, bytes, start, length - 5);
        throw Object.assign(new Error('EIO: made up'), { code: 'EIO' });
      },
      cut() {
        throw Object.assign(new Error('EIO: made up'), { code: 'EIO' });
      },
    },
  });
  const journal = await store.create(runRef(1));
  await journal.append(started);
  await expect(journal.append(callCompleted(1))).rejects.toMatchObject({ code: 'JOURNAL_IO' });
  await expect(journal.close()).rejects.toMatchObject({ code: 'JOURNAL_IO' });
  const { events, defects } = await readRun(openFileStore(root), runRef(1));
  expect(events.map(factOf)).toEqual([started]);
  expect(defects).toMatchObject([{ kind: 'torn-tail', line: 2 }]);
});

it('acknowledges nothing that a failed sync covered', async () => {
  const root = temporaryFolder();
  const { disk } = failingDisk(Infinity, 'EIO');
  const finish: ((error: Error | null) => void)[] = [];
  const store = openFileStore(root, { disk: { ...disk, sync: (_file, done) => void finish.push(done) } });
  const journal = await store.create(runRef(1));
  const settled: string[] = [];
  const watch = (name: string, promise: Promise<unknown>) =>
    promise.then(
      () => settled.push(`${name} ok`),
      () => settled.push(`${name} rejected`),
    );
  const all = [watch('first', journal.append(started)), watch('written', journal.append(callStarted(1)))];
  await new Promise(setImmediate);
  all.push(watch('later', journal.append(callCompleted(1))));
  await new Promise(setImmediate);
  expect(settled).toEqual(['written ok']); // J3: with the kernel, and needs no sync
  expect(finish).toHaveLength(1); // J4: one at a time
  finish[0]?.(Object.assign(new Error('EIO: made up'), { code: 'EIO' }));
  await Promise.all(all);
  expect(settled).toEqual(['written ok', 'first rejected', 'later rejected']);
  await expect(journal.close()).rejects.toMatchObject({ code: 'JOURNAL_IO' });
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

it('shares one sync between calls that are answered within a turn, whichever of them waited first', async () => {
  const { disk } = failingDisk(Infinity, 'EIO');
  let syncs = 0;
  const sync = (_file: number, done: (error: null) => void): void => {
    syncs++;
    setTimeout(done, 1, null);
  };
  const journal = await openFileStore(temporaryFolder(), { disk: { ...disk, sync } }).create(runRef(1));
  const [lanes, rounds] = [20, 10];
  const lane = async (n: number): Promise<void> => {
    if (n % 2 === 1) await journal.append(callCompleted(n)); // half of them begin when the first sync is under way
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
