/** A disk that takes nothing for a while: what a run had to say meanwhile is in its journal afterwards, in its order, and once. */
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { examples } from '../support/examples.js';
import { storeBundle } from '../../journal/upkeep/bundle.js';
import { openDeleter } from '../../journal/upkeep/delete-runs.js';
import { realDisk, type Disk } from '../../journal/storage/disk.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { MAY_LAG } from '../../journal/durability.js';
import type { Fact, JournalEvent, Json } from '../../journal/event.js';
import { journalFolder, runPath } from '../../journal/storage/layout.js';
import { editedLines, rewriteRun } from '../../journal/upkeep/rewrite.js';
import { segmentPath } from '../../journal/segments.js';
import type { Recorded } from '../../journal/store.js';
import { callCompleted, callStarted, finished, opStarted, runRef, started } from './support/facts.js';
import { failingDisk } from './support/failing-disk.js';
import { temporaryFolder } from './support/folder.js';
import { factOf, readRun } from './support/read.js';
import { volatileDisk } from './support/volatile-disk.js';

const RUN = runRef(1);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const failure = (code: string): Error => Object.assign(new Error(`${code}: made up`), { code });
const segmentOf = (root: string, segment: number): string => segmentPath(runPath(journalFolder(root), RUN), segment);

type Trouble = 'write' | 'half write' | 'sync' | 'create' | 'rename' | 'syncFolder' | 'makeFolder' | 'cut' | 'remove';

/** A real disk on which some calls fail for as long as they are in `troubles`. */
function brokenDisk(troubles: Set<Trouble>, code = 'ENOSPC'): Disk {
  const may = (trouble: Trouble): void => {
    if (troubles.has(trouble)) throw failure(code);
  };
  return {
    ...realDisk,
    async makeFolder(folder) {
      may('makeFolder');
      return realDisk.makeFolder(folder);
    },
    async syncFolder() {
      may('syncFolder');
    },
    create(file) {
      may('create');
      return realDisk.create(file);
    },
    write(file, bytes, start, length, position) {
      may('write');
      if (!troubles.has('half write')) return realDisk.write(file, bytes, start, length, position);
      realDisk.write(file, bytes, start, Math.floor(length / 2), position);
      throw failure(code);
    },
    cut(file, size) {
      may('cut');
      realDisk.cut(file, size);
    },
    sync: (_file, done) => void setImmediate(() => done(troubles.has('sync') ? failure(code) : null)),
    async rename(from, to) {
      may('rename');
      await realDisk.rename(from, to);
    },
    async remove(file) {
      may('remove');
      await realDisk.remove(file);
    },
  };
}

it.each<[string, Trouble[], string]>([
  ['writes', ['write'], 'ENOSPC'],
  ['writes that get half done', ['half write', 'cut'], 'ENOSPC'],
  ['syncs', ['sync'], 'EIO'],
  ['all of it', ['write', 'sync', 'create', 'rename', 'syncFolder', 'cut', 'remove'], 'EIO'],
])('keeps everything while %s fail for 0.4 s, and lets those wait who must', async (_name, failing, code) => {
  const root = temporaryFolder();
  const troubles = new Set<Trouble>();
  const store = openFileStore(root, { disk: brokenDisk(troubles, code) });
  const journal = await store.create(RUN, {});
  await journal.append(started);
  for (const trouble of failing) troubles.add(trouble);
  let settled = 0;
  const calls = [1, 2, 3].map((n) => journal.append(callCompleted(n)).then(() => settled++));
  journal.post(opStarted(1));
  await sleep(400);
  expect(settled).toBe(0);
  troubles.clear();
  await Promise.all(calls);
  await journal.append(finished);
  await journal.close();
  const { events, defects } = await readRun(openFileStore(root), RUN);
  expect(events.map(factOf)).toEqual([started, callCompleted(1), callCompleted(2), callCompleted(3), opStarted(1), finished]);
  expect(defects).toEqual([]);
  expect((await store.runs(RUN.workflow)).map(({ liveness }) => liveness)).toEqual(['finished']);
  expect(fs.readdirSync(path.dirname(segmentOf(root, 1))).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

it('begins a run on a disk that takes nothing yet', async () => {
  const root = temporaryFolder();
  const troubles = new Set<Trouble>(['create']);
  const store = openFileStore(root, { disk: brokenDisk(troubles) });
  const journal = await store.create(RUN, {});
  await journal.append(started); // does not wait
  const call = journal.append(callStarted(1));
  await sleep(50);
  troubles.clear();
  await call;
  await journal.close();
  expect((await readRun(openFileStore(root), RUN)).events.map(factOf)).toEqual([started, callStarted(1)]);
  expect(fs.readdirSync(path.dirname(segmentOf(root, 1)))).toEqual([`${RUN.run}.ndjson`]);
});

/** The first file of the run takes nothing any more, others do: it has reached the size that the system allows. */
function diskWhoseFilesEnd(bytesMax: number): Disk {
  return {
    ...realDisk,
    write(file, bytes, start, length, position = 0) {
      const room = bytesMax - position;
      if (room <= 0) throw failure('EFBIG');
      return realDisk.write(file, bytes, start, Math.min(length, room), position);
    },
  };
}

it('continues in further segments where a file can take no more, and reads as one run', async () => {
  const root = temporaryFolder();
  const store = openFileStore(root, { disk: diskWhoseFilesEnd(2000) });
  const journal = await store.create(RUN, {});
  await journal.append(started);
  const facts: Fact[] = [started];
  const recorded: Recorded[] = [];
  for (let n = 0; n < 30; n++) {
    recorded.push(await journal.append(callCompleted(n)));
    facts.push(callCompleted(n));
    // Read from a file that was open already, and from one that wasn't.
    for (const reader of [store, openFileStore(root)]) {
      const event = await reader.readAt(RUN, recorded[n]!.position);
      expect(event && factOf(event)).toEqual(callCompleted(n));
    }
  }
  expect((await store.runs(RUN.workflow)).map(({ liveness }) => liveness)).toEqual(['running']);
  await journal.append(finished);
  await journal.close();
  const reader = openFileStore(root);
  const { events, defects, report, positions } = await readRun(reader, RUN);
  expect(events.map(factOf)).toEqual([...facts, finished]);
  expect(defects).toEqual([]);
  expect(fs.existsSync(segmentOf(root, 4))).toBe(true);
  const [file] = await reader.runs(RUN.workflow);
  expect(file).toMatchObject({ liveness: 'finished', bytes: report.end.offset });
  for (const [n, position] of positions.entries()) expect((await reader.readAt(RUN, position))?.seq).toBe(n);
  // From every place, as readers that follow a run do.
  for (const [n, event] of events.entries()) {
    const { offset, bytes } = positions[n]!;
    const rest = await readRun(reader, RUN, { from: { offset: offset + bytes + 1, seq: event.seq, hash: event.hash } });
    expect(rest.events.map(({ seq }) => seq)).toEqual(events.slice(n + 1).map(({ seq }) => seq));
    expect(rest.defects).toEqual([]);
  }
});

it('does not show what an earlier file holds behind the place where the next one begins', async () => {
  const root = temporaryFolder();
  const troubles = new Set<Trouble>();
  const store = openFileStore(root, { disk: brokenDisk(troubles, 'EFBIG') });
  const journal = await store.create(RUN, {});
  await journal.append(started);
  // One line is there whole and unsynced; the next one in part, and stays.
  await journal.append(callStarted(1));
  troubles.add('half write').add('cut');
  const call = journal.append(callCompleted(1));
  await sleep(30);
  const inPlace = fs.openSync(segmentOf(root, 1), 'r');
  const before = fs.fstatSync(inPlace).size;
  fs.closeSync(inPlace);
  troubles.delete('half write');
  await call;
  await journal.close();
  expect(before).toBeGreaterThan(0);
  const { events, defects } = await readRun(openFileStore(root), RUN);
  expect(events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1)]);
  expect(defects).toEqual([]);
});

it('gives up when its time is over, and writes what it kept when the disk is back at the end', async () => {
  const root = temporaryFolder();
  const troubles = new Set<Trouble>();
  const store = openFileStore(root, { disk: brokenDisk(troubles) });
  const told: (string | undefined)[] = [];
  const journal = await store.create(RUN, { waitMs: 100, onOutage: (error) => told.push(error?.code) });
  await journal.append(started);
  await journal.append(callStarted(1));
  troubles.add('write');
  await expect(journal.append(callCompleted(1))).rejects.toMatchObject({
    code: 'JOURNAL_DISK_FULL',
    hint: expect.stringContaining('space'),
  });
  await expect(journal.append(callStarted(2))).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  await expect(journal.flush()).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  expect(() => journal.post(opStarted(1))).not.toThrow();
  expect(told).toEqual(['JOURNAL_DISK_FULL']);
  troubles.clear();
  await expect(journal.append(finished)).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  await journal.close();
  const { events, defects } = await readRun(openFileStore(root), RUN);
  expect(events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1), callStarted(2), opStarted(1), finished]);
  expect(defects).toEqual([]);
});

it('leaves what was acknowledged, and no torn line, when the disk stays full', async () => {
  const root = temporaryFolder();
  const troubles = new Set<Trouble>();
  const journal = await openFileStore(root, { disk: brokenDisk(troubles) }).create(RUN, { waitMs: 30 });
  await journal.append(callStarted(1));
  troubles.add('half write');
  await expect(journal.append(callCompleted(1))).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  await expect(journal.close()).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  const { events, defects } = await readRun(openFileStore(root), RUN);
  expect(events.map(factOf)).toEqual([callStarted(1)]);
  expect(defects).toEqual([]);
});

it('leaves the lines that were written before a sync failed, when the disk takes nothing more', async () => {
  const root = temporaryFolder();
  const troubles = new Set<Trouble>();
  const journal = await openFileStore(root, { disk: brokenDisk(troubles) }).create(RUN, { waitMs: 30 });
  await journal.append(started);
  await journal.append(callStarted(1));
  troubles.add('sync');
  await expect(journal.append(callCompleted(1))).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  troubles.add('half write');
  await expect(journal.append(callStarted(2))).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  await expect(journal.close()).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  const { events, defects } = await readRun(openFileStore(root), RUN);
  expect(events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1)]);
  expect(defects).toEqual([]);
});

it('gives up when what it keeps is too large, keeps no more, and says at the end how much is missing', async () => {
  const root = temporaryFolder();
  const troubles = new Set<Trouble>();
  const journal = await openFileStore(root, { disk: brokenDisk(troubles) }).create(RUN, {});
  await journal.append(started);
  troubles.add('write');
  const text = 'x'.repeat(9_000_000);
  const results = await Promise.allSettled(
    Array.from({ length: 12 }, async (_, n) => {
      await sleep(n * 5);
      await journal.append(callCompleted(n, text));
    }),
  );
  expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 'rejected'));
  troubles.clear();
  await journal.append(finished).catch(() => undefined);
  await journal.close();
  const { events } = await readRun(openFileStore(root), RUN);
  const kept = events.filter(({ type }) => type === 'call.completed').length;
  expect(kept).toBeGreaterThanOrEqual(7);
  expect(kept).toBeLessThan(12);
  expect(events.at(-1)).toMatchObject({ type: 'run.finished', lost: 12 - kept });
}, 120_000);

it('holds up a run that made no calls for a moment only', async () => {
  const troubles = new Set<Trouble>();
  const journal = await openFileStore(temporaryFolder(), { disk: brokenDisk(troubles) }).create(RUN, { waitMs: 3_600_000 });
  await journal.append(started);
  troubles.add('write');
  journal.post(opStarted(1));
  await sleep(20);
  await journal.append(finished);
  await expect(journal.close()).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
});

it('says for every fact, whatever fails for whatever time, that it is in the journal, or that it may not be', async () => {
  const troubleOf = fc.constantFrom<Trouble>(
    'write',
    'half write',
    'sync',
    'create',
    'rename',
    'syncFolder',
    'cut',
    'remove',
    'makeFolder',
  );
  const outage = fc.record({ troubles: fc.uniqueArray(troubleOf, { minLength: 1, maxLength: 5 }), ms: fc.nat(60), restMs: fc.nat(10) });
  const settings = fc.record({
    outages: fc.array(outage, { maxLength: 3 }),
    code: fc.constantFrom('ENOSPC', 'EIO', 'EFBIG'),
    waitMs: fc.constantFrom(0, 25, 10_000),
    atStart: fc.boolean(),
    size: fc.constantFrom(10, 5000, 70_000),
  });
  await fc.assert(
    fc.asyncProperty(settings, async ({ outages, code, waitMs, atStart, size }) => {
      const root = temporaryFolder();
      const troubles = new Set<Trouble>();
      let isOver = false;
      const weather = (async () => {
        for (const { troubles: next, ms, restMs } of outages) {
          for (const trouble of next) troubles.add(trouble);
          await sleep(ms);
          troubles.clear();
          await sleep(restMs);
        }
        isOver = true;
      })();
      if (!atStart) await sleep(1);
      const store = openFileStore(root, { disk: brokenDisk(troubles, code) });
      const journal = await store.create(RUN, { waitMs }).catch(() => undefined);
      const promised: { fact: Fact; recorded: Recorded }[] = [];
      const lagging: Fact[] = [];
      let rejected = 0;
      const append = async (fact: Fact): Promise<void> => {
        const recorded = await journal?.append(fact).catch(() => undefined);
        if (!recorded) rejected++;
        else if (MAY_LAG.has(fact.type)) lagging.push(fact);
        else promised.push({ fact, recorded });
      };
      await append(started);
      const lane = async (n: number): Promise<void> => {
        for (let round = 0; !isOver && round < 30; round++) {
          await append(callStarted(n));
          await append(callCompleted(n, { round, text: 'x'.repeat(size) } as Json));
          await sleep(2);
        }
      };
      await Promise.all([lane(1), lane(2), lane(3)]);
      await append(finished);
      const closed = await journal?.close().then(
        () => true,
        () => false,
      );
      await weather;
      const reader = openFileStore(root);
      const { events, defects } = await readRun(reader, RUN);
      expect(defects.filter(({ kind }) => kind !== 'torn-tail' && kind !== 'unreadable')).toEqual([]);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => n));
      for (const { fact, recorded } of promised) {
        const event = await reader.readAt(RUN, recorded.position);
        expect(event && factOf(event)).toEqual(fact);
      }
      if (closed) {
        for (const fact of lagging) expect(events.map(factOf)).toContainEqual(fact);
        expect(events.at(-1)?.type).toBe('run.finished');
        expect(defects).toEqual([]);
      }
      if (waitMs === 10_000 && journal) expect({ rejected, closed }).toEqual({ rejected: 0, closed: true });
    }),
    { numRuns: examples(30, 60) },
  );
}, 180_000);

/** A finished run of several segments, and the facts in it. */
async function inSegments(root: string, disk = diskWhoseFilesEnd(2000)): Promise<readonly Fact[]> {
  const facts = [started, ...Array.from({ length: 30 }, (_, n) => callCompleted(n)), finished];
  const journal = await openFileStore(root, { disk }).create(RUN, {});
  for (const fact of facts) await journal.append(fact);
  await journal.close();
  return facts;
}

it('leaves a run in segments whole at every moment that a process can be killed', async () => {
  for (let n = 1; ; n++) {
    const root = temporaryFolder();
    const failing = failingDisk(n, 'dead');
    const small = diskWhoseFilesEnd(2000);
    const disk: Disk = {
      ...failing.disk,
      write: (file, bytes, start, length, position = 0) => {
        if (position >= 2000) return small.write(file, bytes, start, length, position);
        return failing.disk.write(file, bytes, start, Math.min(length, 2000 - position), position);
      },
    };
    const promised: { fact: Fact; recorded: Recorded }[] = [];
    const journal = await openFileStore(root, { disk })
      .create(RUN, { waitMs: 1 })
      .catch(() => undefined);
    for (const fact of [started, ...Array.from({ length: 30 }, (_, call) => callCompleted(call)), finished]) {
      const recorded = await journal?.append(fact).catch(() => undefined);
      if (recorded && !failing.struck()) promised.push({ fact, recorded });
    }
    await journal?.close().catch(() => undefined);
    const reader = openFileStore(root);
    const { events, defects } = await readRun(reader, RUN);
    for (const { fact, recorded } of promised) {
      const event = await reader.readAt(RUN, recorded.position);
      expect(event && factOf(event), `call ${n}`).toEqual(fact);
    }
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place));
    expect(defects.filter(({ kind }) => kind !== 'torn-tail' && kind !== 'unreadable')).toEqual([]);
    if (!failing.struck()) break;
  }
}, 180_000);

it('leaves a run in segments whole when the power is cut', async () => {
  const root = temporaryFolder();
  const volatile = volatileDisk(root);
  const { write } = diskWhoseFilesEnd(2000);
  const disk: Disk = {
    ...volatile.disk,
    write: (file, bytes, start, length, position = 0) =>
      position >= 2000
        ? write(file, bytes, start, length, position)
        : volatile.disk.write(file, bytes, start, Math.min(length, 2000 - position), position),
  };
  const journal = await openFileStore(root, { disk }).create(RUN, {});
  const facts: Fact[] = [];
  for (let n = 0; n < 30; n++) {
    await journal.append(callCompleted(n));
    facts.push(callCompleted(n));
    const { events, defects } = await readRun(openFileStore(volatile.left()), RUN);
    expect(events.map(factOf)).toEqual(facts);
    expect(defects.filter(({ kind }) => kind !== 'torn-tail')).toEqual([]);
  }
  await journal.close();
});

it.each([
  ['cut short', 1, (file: string) => fs.truncateSync(file, 300)],
  ['emptied', 1, (file: string) => fs.truncateSync(file, 0)],
  ['damaged', 1, (file: string) => fs.writeFileSync(file, fs.readFileSync(file, 'latin1').replace('"seq":3,', '"seq":8,'), 'latin1')],
])('loses what stood in a file that is %s, and nothing of the segments behind it', async (_how, segment, damage) => {
  const root = temporaryFolder();
  const facts = await inSegments(root);
  const before = (await readRun(openFileStore(root), RUN)).events;
  damage(segmentOf(root, segment));
  const reader = openFileStore(root);
  const { events, defects, positions } = await readRun(reader, RUN);
  expect(defects).toMatchObject([{ kind: 'corrupt' }]);
  const [second] = /"from":\d+/.exec(fs.readFileSync(segmentOf(root, 2), 'latin1')) ?? [];
  const from = Number(second?.slice('"from":'.length));
  const expected = before.filter((_event, n) => (positions[events.findIndex(({ seq }) => seq === n)]?.offset ?? -1) >= from);
  expect(expected.length).toBeGreaterThan(10);
  expect(events.slice(-expected.length)).toEqual(expected);
  expect(facts.length).toBe(before.length);
  for (const [n, position] of positions.entries()) expect(await reader.readAt(RUN, position)).toEqual(events[n]);
});

it('says of a segment whose first line is damaged that it cannot be read, and keeps what is before it', async () => {
  const root = temporaryFolder();
  await inSegments(root);
  fs.writeFileSync(segmentOf(root, 2), fs.readFileSync(segmentOf(root, 2), 'latin1').replace('"from":', '"form":'), 'latin1');
  const { events, defects } = await readRun(openFileStore(root), RUN);
  expect(events.length).toBeGreaterThan(3);
  expect(defects).toContainEqual(expect.objectContaining({ kind: 'unreadable', message: expect.stringContaining('segment 2') }));
});

it('redacts, bundles and removes a run in segments as any other, whenever that is cut short', async () => {
  const edit = (event: JournalEvent) =>
    event.type === 'call.completed' && event.op.endsWith('#20') ? { ...event, result: { redacted: 'asked' } } : undefined;
  const because = { at: '2026-11-21T08:45:12.123Z', reason: 'asked' };
  const source = temporaryFolder();
  await inSegments(source);
  const { events: before } = await readRun(openFileStore(source), RUN);
  const lines = await editedLines(source, RUN, () => undefined, because);
  const copy = temporaryFolder();
  await storeBundle(copy, { runs: [{ ref: RUN, lines }], blobs: new Map() });
  expect((await readRun(openFileStore(copy), RUN)).events).toEqual(before);
  expect(await storeBundle(source, { runs: [{ ref: RUN, lines }], blobs: new Map() })).toEqual([{ ref: RUN, did: 'there' }]);
  for (let n = 1; ; n++) {
    const root = temporaryFolder();
    fs.cpSync(source, root, { recursive: true });
    const failing = failingDisk(n, 'dead');
    await rewriteRun(root, RUN, edit, because, failing.disk).catch(() => undefined);
    const cutShort = await readRun(openFileStore(root), RUN);
    expect(cutShort.defects).toEqual([]);
    expect(cutShort.events).toHaveLength(before.length);
    expect(await rewriteRun(root, RUN, edit, because)).toBeLessThanOrEqual(1);
    const deleter = openDeleter(root);
    await deleter.deleteUnfinished(await deleter.unfinishedFiles());
    const { events, defects } = await readRun(openFileStore(root), RUN);
    expect(defects).toEqual([]);
    expect(events.filter((event) => event.type === 'call.completed' && 'redacted' in event.result)).toHaveLength(1);
    for (const name of fs.readdirSync(path.dirname(segmentOf(root, 1))).filter((file) => file.endsWith('.ndjson')))
      expect(fs.readFileSync(path.join(path.dirname(segmentOf(root, 1)), name), 'utf8')).not.toContain('answer 20,');
    if (!failing.struck()) break;
  }
  await openDeleter(source).deleteRun(RUN);
  expect(fs.readdirSync(path.dirname(segmentOf(source, 1)))).toEqual([]);
});

it('loses of an event that is larger than a line may be that event alone, and says so at the end', async () => {
  const root = temporaryFolder();
  const told: unknown[] = [];
  const journal = await openFileStore(root).create(RUN, { onLost: (error) => told.push(error) });
  await journal.append(started);
  const text = 'x'.repeat(65 * 1024 * 1024);
  await expect(journal.append(callCompleted(1, text))).rejects.toMatchObject({ code: 'JOURNAL_EVENT_TOO_LARGE' });
  journal.post(callCompleted(2, text));
  await journal.append(callCompleted(3));
  await journal.append(finished);
  await journal.close();
  expect(told).toMatchObject([{ code: 'JOURNAL_EVENT_TOO_LARGE' }]);
  const { events, defects } = await readRun(openFileStore(root), RUN);
  expect(events.map(factOf)).toEqual([started, callCompleted(3), { ...finished, lost: 2 }]);
  expect(defects).toEqual([]);
}, 60_000);
