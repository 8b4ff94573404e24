/** A server that is away, and runs that were sealed: results are kept on the own disk, or in a salvage run. team-store.md 4.4, 4.5. */
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../../../journal/canonical.js';
import type { Fact } from '../../../../journal/event.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import { realDisk } from '../../../../journal/storage/disk.js';
import { callCompleted, callFailed, callStarted, finished, received, runRef, started } from '../../support/facts.js';
import { temporaryFolder } from '../../support/folder.js';
import { factOf, readRun } from '../../support/read.js';
import { Line } from './breakable-line.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

interface Opened {
  readonly store: TeamStore;
  readonly line: Line;
  readonly folder: string;
  readonly url: string;
}

describe.skipIf(noServer !== undefined)(`a store that is away${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  function open(from: Partial<Opened> & { readonly waitMs?: number } = {}): Opened {
    const { url = database.project(), folder = temporaryFolder(), waitMs } = from;
    const line = new Line(url);
    const spill = { disk: realDisk, folder };
    return { store: openTestStore(url, { connect: line.connect, spill, ...(waitMs !== undefined && { waitMs }) }), line, folder, url };
  }

  const spills = async (folder: string): Promise<string[]> => {
    const names = await readdir(folder, { recursive: true });
    return names.filter((name) => name.endsWith('.ndjson')).map((name) => join(folder, name));
  };

  /** Makes the spill that of a process that is gone. */
  async function orphan(folder: string): Promise<void> {
    for (const path of await spills(folder)) {
      const text = await readFile(path, 'utf8');
      await writeFile(path, text.replace(/"boot":"[^"]*"/, '"boot":"another one"'));
    }
  }

  const seal = (): Promise<unknown> =>
    database.query(`update mlld.runs set fence = fence + 1, lease_until = '-infinity' where not finished`, []);

  /** Leaves a run whose last result is in the spill only. */
  async function leaveSpill(spilled: readonly Fact[] = [callCompleted(1)]): Promise<Opened> {
    const opened = open({ waitMs: 50 });
    const journal = await opened.store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    await opened.line.cut();
    for (const fact of spilled) await journal.append(fact);
    await expect(journal.close()).rejects.toMatchObject({ code: 'STORE_SPILLED' });
    await orphan(opened.folder);
    await opened.store.close();
    return opened;
  }

  it('keeps a result on the own disk, hands it out when the server is back and has all of it, and begins no call meanwhile', async () => {
    const { store, line, folder } = open();
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    await line.cut();
    const done: string[] = [];
    const completing = journal.append(callCompleted(1)).then(() => done.push('completed'));
    await expect.poll(() => spills(folder)).toHaveLength(1);
    const beginning = journal.append(callStarted(2)).then(() => done.push('begun'));
    await journal.flush();
    expect(done).toEqual([]);
    line.isCut = false;
    await Promise.all([completing, beginning]);
    await journal.append(callCompleted(2));
    await journal.append(finished);
    await journal.close();
    expect(await spills(folder)).toEqual([]);
    const { events, defects } = await readRun(store, runRef(1));
    expect(defects).toEqual([]);
    expect(events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1), callStarted(2), callCompleted(2), finished]);
    await store.close();
  });

  it('hands a result out that is on the own disk when the run must stop', async () => {
    const { store, line, folder } = open();
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    await line.cut();
    const completing = journal.append(callCompleted(1));
    await expect.poll(() => spills(folder)).toHaveLength(1);
    journal.hurry?.();
    expect((await completing).supersededBy).toBeUndefined();
    line.isCut = false;
    await journal.close();
    expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1)]);
    await store.close();
  });

  it('records a fact once that is appended while the head of the run is asked for', async () => {
    const { store, line } = open();
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await line.cut();
    const first = journal.append(callStarted(1));
    await journal.flush();
    let second: Promise<unknown> | undefined;
    line.before = async (text) => {
      if (second !== undefined || !text.startsWith('select fence')) return;
      second = journal.append(callStarted(2));
      await journal.flush();
    };
    line.isCut = false;
    await first;
    await second;
    await journal.append(callCompleted(1));
    await journal.close();
    const { events, defects } = await readRun(store, runRef(1));
    expect(defects).toEqual([]);
    expect(events.map(factOf)).toEqual([started, callStarted(1), callStarted(2), callCompleted(1)]);
    await store.close();
  });

  it('pauses when the server stays away, and a later process brings the rest in, once', async () => {
    const { folder, url } = await leaveSpill();
    const { store } = open({ folder, url });
    expect(await store.pushSpills()).toEqual([{ ref: runRef(1), events: 1, salvaged: 0 }]);
    expect(await store.pushSpills()).toEqual([]);
    const { events, defects } = await readRun(store, runRef(1));
    expect(defects).toEqual([]);
    expect(events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1)]);
    expect((await store.runs(runRef(1).workflow))[0]?.liveness).toBe('crashed');
    await store.close();
  });

  it('claims nothing for a run that has given it up: that would wait for the store once more', async () => {
    const { store, line } = open({ waitMs: 50 });
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    await line.cut();
    await journal.append(callCompleted(1));
    const claim = { key: sha256('key 2'), refused: undefined };
    await expect(journal.claims?.claim(claim)).rejects.toMatchObject({ code: 'STORE_SPILLED' });
    await expect(journal.claims?.claimAgain(claim)).rejects.toMatchObject({ code: 'STORE_SPILLED' });
    await expect(journal.close()).rejects.toMatchObject({ code: 'STORE_SPILLED' });
    await store.close();
  });

  it('leaves the spill of a living process alone', async () => {
    const { store, line, folder, url } = open();
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    await line.cut();
    const completing = journal.append(callCompleted(1));
    await expect.poll(() => spills(folder)).toHaveLength(1);
    const other = open({ folder, url });
    expect(await other.store.pushSpills()).toEqual([]);
    line.isCut = false;
    await completing;
    await journal.close();
    expect((await readRun(store, runRef(1))).events).toHaveLength(3);
    await other.store.close();
    await store.close();
  });

  it('puts a spilled result of a run that was sealed meanwhile into a salvage run, once', async () => {
    const { folder, url } = await leaveSpill();
    await seal();
    const [path] = await spills(folder);
    const text = await readFile(path as string, 'utf8');
    const { store } = open({ folder, url });
    expect(await store.pushSpills()).toEqual([{ ref: runRef(1), events: 0, salvaged: 1 }]);
    await writeFile(path as string, text); // as after a kill that came before the spill was removed
    expect(await store.pushSpills()).toEqual([{ ref: runRef(1), events: 0, salvaged: 0 }]);
    expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started, callStarted(1)]);
    const [, salvage, ...more] = await store.runs(runRef(1).workflow);
    expect(more).toEqual([]);
    expect(salvage).toMatchObject({ liveness: 'finished', isSalvage: true, finished: { salvages: runRef(1).run } });
    const { events, defects } = await readRun(store, (salvage as { ref: ReturnType<typeof runRef> }).ref);
    expect(defects).toEqual([]);
    expect(events.slice(1, 3).map(factOf)).toEqual([{ ...callStarted(1), begun: { run: runRef(1).run, seq: 1 } }, callCompleted(1)]);
    await store.close();
  });

  it.each([
    ['alone where its guards were cut off', [received(1)]],
    ['with its end', [received(1), callCompleted(1)]],
    ['with the failure of its guards', [received(1), callFailed(1)]],
  ])('puts a spilled result that guards had not judged into a salvage run %s, once', async (_title, spilled) => {
    const { folder, url } = await leaveSpill(spilled);
    await seal();
    const [path] = await spills(folder);
    const text = await readFile(path as string, 'utf8');
    const { store } = open({ folder, url });
    expect(await store.pushSpills()).toMatchObject([{ salvaged: 1 }]);
    await writeFile(path as string, text);
    expect(await store.pushSpills()).toMatchObject([{ salvaged: 0 }]);
    const [, salvage, ...more] = await store.runs(runRef(1).workflow);
    expect(more).toEqual([]);
    const { events } = await readRun(store, (salvage as { ref: ReturnType<typeof runRef> }).ref);
    const begun = { ...callStarted(1), begun: { run: runRef(1).run, seq: 1 } };
    expect(events.slice(1, -1).map(factOf)).toEqual([begun, ...spilled]);
    await store.close();
  });

  it('keeps a spill whose run the database has in an older state', async () => {
    const { folder, url } = await leaveSpill();
    await database.query(
      `update mlld.runs set next_seq = 0, bytes = 0, hash = repeat('0', 64)
       where run_id = (select max(run_id) from mlld.runs)`,
      [],
    );
    const { store } = open({ folder, url });
    expect(await store.pushSpills()).toMatchObject([{ ref: runRef(1), events: 0, error: { code: 'STORE_WENT_BACK' } }]);
    expect(await spills(folder)).toHaveLength(1);
    await store.close();
  });

  it('keeps the rest of a spill with a line that was changed, out of the way, and brings in those before', async () => {
    const { folder, url } = await leaveSpill();
    const [path] = (await spills(folder)) as [string];
    const [, completed = ''] = (await readFile(path, 'utf8')).split('\n');
    await appendFile(path, `${completed.replace('"seq":2', '"seq":3')}\n`);
    const changed = await readFile(path, 'utf8');
    const { store } = open({ folder, url });
    const error = expect.objectContaining({ code: 'STORE_SPILL_DAMAGED', message: expect.stringContaining(`line 3 of ${path}.damaged`) });
    expect(await store.pushSpills()).toEqual([{ ref: runRef(1), events: 1, salvaged: 0, error }]);
    expect(await readFile(`${path}.damaged`, 'utf8')).toBe(changed);
    expect(await store.pushSpills()).toEqual([]);
    await writeFile(path, changed); // a run that goes on may leave another one of its name
    expect(await store.pushSpills()).toHaveLength(1);
    expect(await readFile(`${path}.damaged`, 'utf8')).toBe(changed);
    expect(await readFile(`${path}.damaged-2`, 'utf8')).toBe(changed);
    expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1)]);
    await store.close();
  });

  it('brings in what is before a torn end', async () => {
    const { folder, url } = await leaveSpill();
    const [path] = (await spills(folder)) as [string];
    await appendFile(path, '{"v":1,"seq":');
    const { store } = open({ folder, url });
    expect(await store.pushSpills()).toMatchObject([{ salvaged: 0 }]);
    expect(await readdir(dirname(path))).toEqual([]);
    await store.close();
  });

  it.each([
    ['"workflow":"', '"workflows":"'],
    ['"workflow":"', '"workflow":"\\u0000'],
    ['"fence":0', '"fence":"0"'],
    ['"offset":', '"offsets":'],
  ])('says that a spill was changed whose head has %s as %s', async (found, put) => {
    const { folder, url } = await leaveSpill();
    const [path] = (await spills(folder)) as [string];
    await writeFile(path, (await readFile(path, 'utf8')).replace(found, put));
    const { store } = open({ folder, url });
    await expect(store.pushSpills()).rejects.toMatchObject({ code: 'STORE_SPILL_DAMAGED' });
    expect(await spills(folder)).toHaveLength(1);
    await store.close();
  });

  it('names a spill that can not be read', async () => {
    const { folder, url } = await leaveSpill();
    const [path] = (await spills(folder)) as [string];
    await mkdir(join(dirname(path), 'folder.ndjson'));
    const { store } = open({ folder, url });
    const named = { code: 'STORE_SPILL_DAMAGED', message: expect.stringContaining('folder.ndjson') };
    await expect(store.pushSpills()).rejects.toMatchObject(named);
    await store.close();
  });

  it('keeps what the calls of a sealed run end with, and begins none', async () => {
    const { store, folder } = open();
    const journal = await store.create(runRef(1));
    await journal.append({ ...started, user: 'ada' } as Fact);
    await journal.append(callStarted(1));
    await journal.append(callStarted(2));
    await seal();
    await journal.append(callCompleted(1));
    await expect(journal.append(callStarted(3))).rejects.toMatchObject({ code: 'STORE_SEALED' });
    await journal.append(callCompleted(2));
    await expect(journal.close()).rejects.toMatchObject({ code: 'STORE_SEALED' });
    expect((await readRun(store, runRef(1))).events.slice(1).map(factOf)).toEqual([callStarted(1), callStarted(2)]);
    const salvage = (await store.runs(runRef(1).workflow)).find(({ isSalvage }) => isSalvage);
    const { events } = await readRun(store, (salvage as { ref: ReturnType<typeof runRef> }).ref);
    expect(events[0]).toMatchObject({ user: 'ada', host: 'ship' }); // the person whose money it was
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      'call.started',
      'call.completed',
      'call.started',
      'call.completed',
      'run.finished',
    ]);
    expect(await spills(folder)).toEqual([]);
    await store.close();
  });

  it('waits in memory where the own disk refuses the spill', async () => {
    const url = database.project();
    const line = new Line(url);
    let refusals = 0;
    const refusing = {
      ...realDisk,
      create: () => {
        refusals++;
        throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      },
    };
    const store = openTestStore(url, { connect: line.connect, spill: { disk: refusing, folder: temporaryFolder() } });
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    await line.cut();
    let isKept = false;
    const completing = journal.append(callCompleted(1)).then(() => (isKept = true));
    await vi.waitFor(() => expect(refusals).toBeGreaterThan(0));
    expect(isKept).toBe(false);
    line.isCut = false;
    await completing;
    await journal.close();
    expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1)]);
    await store.close();
  });
});
