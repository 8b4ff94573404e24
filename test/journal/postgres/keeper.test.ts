/** Runs of a server are changed and removed as those of files are, whole or not at all. */
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TeamStore } from '../../../journal/postgres/open-store.js';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { journalFolder, runPath } from '../../../journal/storage/layout.js';
import type { JournalStore } from '../../../journal/store.js';
import { openFileKeeper } from '../../../journal/upkeep/file-keeper.js';
import type { Keeper, NamedBlobs } from '../../../journal/upkeep/keeper.js';
import { callCompleted, callStarted, finished, runRef, smallRun, started, workflow } from '../support/facts.js';
import { temporaryFolder } from '../support/folder.js';
import { readRun } from '../support/read.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from './database.js';

const REF = runRef(1);
const BECAUSE = { at: '2026-11-21T09:00:00.000Z', reason: 'asked for' };
const CUT = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

async function record(store: JournalStore, facts: readonly Fact[], ref = REF): Promise<void> {
  const journal = await store.create(ref);
  for (const fact of facts) await journal.append(fact);
  await journal.close();
}

async function keeperOf(store: TeamStore): Promise<Keeper & { readonly blobs: NamedBlobs }> {
  return (await store.keeper()) as Keeper & { readonly blobs: NamedBlobs };
}

/** Takes out results: of an odd call by a long text, of an even one by a short one. */
function taken(event: JournalEvent): JournalEvent | undefined {
  if (event.type !== 'call.completed' || event.seq % 3 === 0) return undefined;
  return { ...event, result: { redacted: event.seq % 2 === 0 ? 'x' : 'a longer text than there was '.repeat(9) } };
}

describe.skipIf(noServer !== undefined)(`upkeep on a server${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const someCalls: Fact[] = Array.from({ length: 40 }, (_, n) => [callStarted(n), callCompleted(n)]).flat();

  it('holds the lines of files unchanged, and changes them as those of files', async () => {
    const root = temporaryFolder();
    await record(openFileStore(root), [started, ...someCalls, finished]);
    const file = (): Buffer => fs.readFileSync(runPath(journalFolder(root), REF));
    const store = openTestStore(database.project());
    const keeper = await keeperOf(store);
    const bundle = { runs: [{ ref: REF, lines: file() }], blobs: new Map() };
    expect(await keeper.storeBundle(bundle)).toEqual([{ ref: REF, did: 'stored' }]);
    expect(await keeper.storeBundle(bundle)).toEqual([{ ref: REF, did: 'there' }]);
    expect(Buffer.from(await keeper.lines(REF)).equals(file())).toBe(true);
    const [listed] = await store.runs(workflow);
    expect(listed).toMatchObject({ liveness: 'finished', bytes: file().length });

    const files = openFileKeeper(root);
    const edited = await files.editedLines(REF, taken, BECAUSE);
    expect(Buffer.from(await keeper.editedLines(REF, taken, BECAUSE)).equals(edited)).toBe(true);
    expect(await keeper.rewriteRun(REF, taken, BECAUSE)).toBe(await files.rewriteRun(REF, taken, BECAUSE));
    expect(Buffer.from(await keeper.lines(REF)).equals(file())).toBe(true);
    expect(file().equals(edited)).toBe(true);
    const { events, positions, defects } = await readRun(store, REF);
    expect(defects).toEqual([]);
    expect(events).toEqual((await readRun(openFileStore(root), REF)).events);
    for (const [n, position] of positions.entries()) expect(await store.readAt(REF, position)).toEqual(events[n]);
    await expect(keeper.storeBundle(bundle)).rejects.toMatchObject({ code: 'JOURNAL_RUN_EXISTS' });
    await keeper.purge();
    await store.close();
  });

  it('adds nothing of a bundle when one of its runs is there in another form', async () => {
    const store = openTestStore(database.project());
    const keeper = await keeperOf(store);
    await record(store, smallRun);
    const lines = Buffer.from(await keeper.lines(REF));
    const other = runRef(2);
    const bundle = {
      runs: [
        { ref: other, lines },
        { ref: REF, lines: lines.subarray(0, lines.indexOf('\n') + 1) },
      ],
      blobs: new Map(),
    };
    await expect(keeper.storeBundle(bundle)).rejects.toMatchObject({ code: 'JOURNAL_RUN_EXISTS' });
    expect((await store.runs(workflow)).map(({ ref }) => ref)).toEqual([REF]);
    await store.close();
  });

  it('lists nothing whose name is not that of a run, so that no copy of it is written elsewhere', async () => {
    const url = database.project();
    const store = openTestStore(url);
    await record(store, smallRun);
    await record(store, smallRun, runRef(2));
    await database.query(
      `update mlld.runs r set run = '../../../../elsewhere' from mlld.workflows w join mlld.projects p using (project_id)
       where r.workflow_id = w.workflow_id and p.name = $1 and r.run = $2`,
      [parseStoreAddress(url, { environment: {} }).project, runRef(2).run],
    );
    expect((await store.runs(workflow)).map(({ ref }) => ref)).toEqual([REF]);
    await store.close();
  });

  it('keeps what a killed process wrote in whole lines, as a run that crashed', async () => {
    const root = temporaryFolder();
    await record(openFileStore(root), [started, callStarted(0)]);
    const lines = fs.readFileSync(runPath(journalFolder(root), REF));
    const store = openTestStore(database.project());
    const keeper = await keeperOf(store);
    await keeper.storeBundle({ runs: [{ ref: REF, lines: Buffer.concat([lines, Buffer.from('{"v":1,"seq":2')]) }], blobs: new Map() });
    expect(Buffer.from(await keeper.lines(REF)).equals(lines)).toBe(true);
    expect(await store.runs(workflow)).toMatchObject([{ liveness: 'crashed' }]);
    await store.close();
  });

  it('changes no run that is in flight, and stops a writer whose lease has run out', async () => {
    const store = openTestStore(database.project());
    const keeper = await keeperOf(store);
    const journal = await store.create(REF);
    for (const fact of [started, ...someCalls.slice(0, 6)]) await journal.append(fact);
    await expect(keeper.rewriteRun(REF, taken, BECAUSE)).rejects.toMatchObject({ code: 'JOURNAL_RUN_IN_USE' });
    await keeper.recover();
    await journal.append(callStarted(7));
    await database.query(`update mlld.runs set lease_until = clock_timestamp() - interval '1 hour', lease_s = 0 where not finished`, []);
    expect(await keeper.rewriteRun(REF, taken, BECAUSE)).toBeGreaterThan(0);
    const { length } = (await readRun(store, REF)).events;
    await journal.append(callCompleted(7)); // it was paid for: a salvage run has it
    await expect(journal.append(callStarted(8))).rejects.toMatchObject({ code: 'STORE_SEALED' });
    const { events, defects } = await readRun(store, REF);
    expect(events).toHaveLength(length);
    expect(defects).toEqual([]);
    expect(await store.runs(workflow)).toContainEqual(expect.objectContaining({ isSalvage: true }));
    await journal.close().catch(() => undefined);
    await store.close();
  });

  it('rewrites and adds runs whole or not at all, wherever the connection breaks', async () => {
    const url = database.project();
    const address = parseStoreAddress(url, { environment: {} });
    let left = Infinity;
    const store = openTestStore(url, {
      waitMs: 0,
      notifies: false, // a hint that is sent meanwhile would meet the break
      async connect(onLost) {
        const client = await connectClient(address, { connectMs: 5000, onLost });
        return {
          ...client,
          async query(text, values, timeoutMs) {
            if (left-- !== 0) return client.query(text, values, timeoutMs);
            await client.end();
            throw CUT;
          },
        };
      },
    });
    const keeper = await keeperOf(store);
    await record(store, [started, ...someCalls, finished]);
    const before = Buffer.from(await keeper.lines(REF));
    const after = Buffer.from(await keeper.editedLines(REF, taken, BECAUSE));
    const other = runRef(2);
    const attempt = async (work: () => Promise<unknown>, forms: readonly string[], look: () => Promise<string>): Promise<number> => {
      for (let statements = 0; ; statements++) {
        left = statements;
        const isDone = await work().then(
          () => true,
          () => false,
        );
        left = Infinity;
        expect(forms).toContain(await look());
        if (isDone) return statements;
      }
    };
    const formOf = async (): Promise<string> => Buffer.from(await keeper.lines(REF)).toString();
    const rewriting = await attempt(() => keeper.rewriteRun(REF, taken, BECAUSE), [before.toString(), after.toString()], formOf);
    expect(rewriting).toBeGreaterThan(8);
    expect(await formOf()).toBe(after.toString());
    const adding = await attempt(
      () => keeper.storeBundle({ runs: [{ ref: other, lines: before }], blobs: new Map() }),
      ['', before.toString()],
      async () => ((await store.find(other.run)) === undefined ? '' : Buffer.from(await keeper.lines(other)).toString()),
    );
    expect(adding).toBeGreaterThan(4);
    expect((await readRun(store, other)).defects).toEqual([]);
    await store.close();
  });

  it('removes blobs that no run names while another run is in flight, and none that this one may be about to name', async () => {
    const store = openTestStore(database.project());
    const { blobs } = await keeperOf(store);
    const [unused, named, renewed] = await Promise.all(['unused', 'named', 'renewed'].map((text) => store.putBlob(text.repeat(99))));
    await record(store, [started, { type: 'source.loaded', path: 'a.mld', blob: named!.blob, role: 'script' }, finished]);
    const journal = await store.create(runRef(2));
    await journal.append(started);
    const [fresh] = [await store.putBlob('fresh'), await store.putBlob('renewed'.repeat(99))];
    const listed = await blobs.removeUnused({ going: [], dryRun: true });
    expect(listed).toEqual([{ blob: unused!.blob, bytes: unused!.bytes }]);
    expect(await blobs.removeUnused({ going: [], dryRun: false })).toEqual(listed);
    await journal.append({ type: 'source.loaded', path: 'b.mld', blob: fresh!.blob, role: 'script' });
    await journal.append(finished);
    await journal.close();
    expect(await store.getBlob(unused!.blob)).toBeUndefined();
    for (const { blob } of [named!, fresh!, renewed!]) expect(await store.getBlob(blob)).toBeDefined();
    expect(await blobs.removeUnused({ going: [runRef(2)], dryRun: true })).toEqual(
      expect.arrayContaining([renewed, fresh].map((each) => ({ blob: each!.blob, bytes: each!.bytes }))),
    );
    expect(await blobs.removeUnused({ going: [], dryRun: false })).toEqual([{ blob: renewed!.blob, bytes: renewed!.bytes }]);
    expect(await store.getBlob(fresh!.blob)).toBeDefined();
    await store.close();
  });
});
