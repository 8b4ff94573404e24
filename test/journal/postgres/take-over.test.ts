/** A run that goes on with another takes it from its writer, and no second one does. team-store.md 4.5, 9.1. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { JournalError } from '../../../journal/errors.js';
import type { Fact } from '../../../journal/event.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';
import type { TeamStore } from '../../../journal/postgres/open-store.js';
import type { CreateOptions, Journal, RunFile } from '../../../journal/store.js';
import { callCompleted, callStarted, finished, runRef, started, workflow } from '../support/facts.js';
import { Between } from '../support/between.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from './database.js';

const IN_USE = { code: 'JOURNAL_RUN_IN_USE' };

describe.skipIf(noServer !== undefined)(
  `a run that another goes on with${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
    const opened: TeamStore[] = [];
    afterAll(() => Promise.all(opened.map((store) => store.close())));

    function open(url: string, leaseMs = 60_000): TeamStore {
      const store = openTestStore(url, { leaseMs });
      opened.push(store);
      return store;
    }

    /** As if the processes of all runs had been stopped for a lease. */
    const fallAsleep = (): Promise<unknown> => database.query(`update mlld.runs set lease_until = '-infinity' where not finished`, []);

    const listed = async (store: TeamStore, n: number): Promise<RunFile> =>
      (await store.runs(workflow)).find(({ ref }) => ref.run === runRef(n).run) ?? expect.fail('no such run');

    async function begun(store: TeamStore, n: number, facts: readonly Fact[] = [started], options?: CreateOptions): Promise<Journal> {
      const journal = await store.create(runRef(n), options);
      for (const fact of facts) await journal.append(fact);
      return journal;
    }

    it('takes nothing of its former writer any more, who hears of it without an append', async () => {
      const url = database.project();
      const taken: JournalError[] = [];
      const journal = await begun(open(url, 1000), 1, [started], { onTaken: (error) => void taken.push(error) });
      const other = open(url);
      const next = await vi.waitFor(async () => {
        await fallAsleep(); // a heartbeat may be quicker
        return other.create(runRef(2), { continues: await listed(other, 1) });
      });
      await expect.poll(() => taken, { timeout: 10_000 }).toMatchObject([{ code: 'STORE_SEALED' }]);
      await expect(journal.append(callStarted(2))).rejects.toMatchObject({ code: 'STORE_SEALED' });
      expect(taken).toHaveLength(1);
      await next.append(started);
      await next.close();
      await journal.close().catch(() => undefined);
      expect((await listed(other, 1)).fence).toBe(1);
    });

    it.each(['the statement', 'its answer'] as const)('is gone on with where the connection is cut, and %s is lost', async (lost) => {
      const url = database.project();
      await begun(open(url), 1);
      await fallAsleep();
      const between = await Between.open(url);
      const other = open(between.url);
      const continues = await listed(other, 1);
      let cuts = 0;
      between.onSent = (text) => {
        if (cuts > 0 || !text.includes('begin_after')) return true;
        cuts += 1;
        between.isDeaf = true;
        setTimeout(() => {
          between.isDeaf = false;
          between.cut();
        }, 200);
        return lost === 'its answer';
      };
      const next = await other.create(runRef(2), { continues });
      expect(cuts).toBe(1);
      await next.append(started);
      await next.close();
      expect((await listed(other, 1)).fence).toBe(1);
      expect((await listed(other, 2)).bytes).toBeGreaterThan(0);
    });

    it('is left alone while its writer lives', async () => {
      const url = database.project();
      const journal = await begun(open(url), 1);
      const other = open(url);
      await expect(other.create(runRef(2), { continues: await listed(other, 1) })).rejects.toMatchObject(IN_USE);
      expect(await other.runs(workflow)).toHaveLength(1);
      await journal.append(callStarted(1));
      await journal.close();
    });

    it('is left alone when its writer has appended since it was read', async () => {
      const url = database.project();
      const journal = await begun(open(url), 1);
      const other = open(url);
      const read = await listed(other, 1);
      await journal.append(callStarted(1));
      await fallAsleep();
      await expect(other.create(runRef(2), { continues: read })).rejects.toMatchObject(IN_USE);
      await journal.append(callCompleted(1, 'ebb'));
      await journal.close();
    });

    it('is gone on with once, also when it has ended, and also by who had read it before', async () => {
      const store = open(database.project());
      await (await begun(store, 1, [started, finished])).close();
      const read = await listed(store, 1);
      await (await store.create(runRef(2), { continues: read })).close();
      await expect(store.create(runRef(3), { continues: read })).rejects.toMatchObject(IN_USE);
      await expect(store.create(runRef(3), { continues: { ref: read.ref } })).rejects.toMatchObject(IN_USE); // the process that wrote it
      await (await store.create(runRef(3), { continues: await listed(store, 1) })).close();
    });

    it('takes with it a run that was begun behind it and has no lines yet', async () => {
      const url = database.project();
      const store = open(url);
      await (await begun(store, 1, [started, finished])).close();
      const hidden = await store.create(runRef(2), { continues: await listed(store, 1) });
      await fallAsleep();
      const other = open(url);
      await (await begun(other, 3, [started, finished], { continues: await listed(other, 1) })).close();
      await expect(hidden.append(started).then(() => hidden.append(callStarted(1)))).rejects.toMatchObject({ code: 'STORE_SEALED' });
      await hidden.close().catch(() => undefined);
      expect((await listed(other, 2)).bytes).toBe(0);
    });

    it('takes with it a run that goes on with it and has no lines yet, and none that has just begun, whose writers live', async () => {
      const store = open(database.project());
      await (await begun(store, 1, [started, finished])).close();
      const fresh = await begun(store, 2, []);
      const hidden = await store.create(runRef(3), { continues: await listed(store, 1) });
      await (await begun(store, 4, [started, finished], { continues: await listed(store, 1) })).close();
      await expect(hidden.append(started).then(() => hidden.append(callStarted(1)))).rejects.toMatchObject({ code: 'STORE_SEALED' });
      await hidden.close().catch(() => undefined);
      for (const fact of [started, callStarted(1)]) await fresh.append(fact);
      await fresh.close();
    });

    it('is the same run when the statement that begins it is sent twice', async () => {
      const store = open(database.project());
      await (await begun(store, 1, [started, finished])).close();
      const { ref, bytes } = await listed(store, 1);
      const [{ name } = { name: '' }] = await database.query('select name from mlld.projects order by project_id desc limit 1', []);
      const begin = `select mlld.begin_after($1, $2, $3, $4, 60, 'hut', 1, '', $5, $6, 0)::text as id`;
      const values = [name, workflow, runRef(2).run, randomUUID(), ref.run, bytes];
      const other = await connectClient(parseStoreAddress(database.project(), { environment: {} }), {
        connectMs: 5000,
        onLost: () => undefined,
      });
      const [first, second] = await Promise.all([database.query(begin, values), other.query(begin, values)]);
      await other.end();
      expect(first).toEqual([{ id: expect.stringMatching(/^\d+$/) }]);
      expect(second).toEqual(first);
      expect((await listed(store, 1)).fence).toBe(1);
    });
  },
);
