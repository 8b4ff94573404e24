/** A line on which nothing arrives any more, although nobody has ended it. team-store.md 4.3, 4.4. */
import { describe, expect, it } from 'vitest';
import type { StoredBlob } from '../../../../journal/storage/blob-writer.js';
import { realDisk } from '../../../../journal/storage/disk.js';
import { callCompleted, callStarted, finished, runRef, started } from '../../support/facts.js';
import { temporaryFolder } from '../../support/folder.js';
import { factOf, readRun } from '../../support/read.js';
import { Between } from '../../support/between.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

describe.skipIf(noServer !== undefined)(`a line that falls silent${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  async function open() {
    const between = await Between.open(database.project());
    const spill = { disk: realDisk, folder: temporaryFolder() };
    return { between, store: openTestStore(between.url, { leaseMs: 2000, waitMs: 60_000, spill }) };
  }

  it('is left for another, and a run goes on', async () => {
    const { between, store } = await open();
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    between.halt();
    await journal.append(callCompleted(1));
    await journal.append(callStarted(2));
    between.halt();
    await journal.append(callCompleted(2));
    await journal.append(finished);
    await journal.close();
    const { events } = await readRun(store, runRef(1));
    expect(events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1), callStarted(2), callCompleted(2), finished]);
    await store.close();
  });

  it.each([
    ['of one part', 10_000],
    ['of several parts', 3_000_000],
  ])('fails a blob %s in finite time, and takes it then', async (_title, bytes) => {
    const { between, store } = await open();
    await store.putBlob(Buffer.alloc(bytes, 'a'));
    between.halt();
    const content = Buffer.alloc(bytes, 'b');
    await expect(store.putBlob(content)).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    const stored = async (): Promise<StoredBlob> => store.putBlob(content).catch(stored); // each connection notices it by itself
    const { blob } = await stored();
    expect(Buffer.from((await store.getBlob(blob)) as Uint8Array).equals(content)).toBe(true);
    await store.close();
  });

  it('does not keep a store from closing', async () => {
    const { between, store } = await open();
    await store.workflows();
    between.halt();
    await store.close();
  });
});
