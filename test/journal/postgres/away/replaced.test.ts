/** A database that is dropped and restored while a run is written. team-store.md 4.3 and 4.4. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { callCompleted, callStarted, runRef, started } from '../../support/facts.js';
import { factOf, readRun } from '../../support/read.js';
import type { CallKey } from '../../../../journal/ids.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

describe.skipIf(noServer !== undefined)(
  `a database that is replaced${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const made = async (migrated: boolean): Promise<TestDatabase> =>
      noServer === undefined ? makeDatabase({ migrated }) : (undefined as unknown as TestDatabase);
    const [database, beside] = [await made(true), await made(false)];
    const name = noServer === undefined ? new URL(database.url).pathname.slice(1) : '';

    /** Copies the database as it is now, whoever is connected to it. */
    async function dump(): Promise<void> {
      for (let tries = 0; ; tries++) {
        try {
          await beside.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
          await beside.query(`create database ${name}_dump template ${name}`);
          return;
        } catch (error) {
          if (tries === 50) throw error;
        }
      }
    }

    const drop = async (): Promise<unknown> => beside.query(`drop database ${name} with (force)`);
    const restore = async (): Promise<unknown> => beside.query(`alter database ${name}_dump rename to ${name}`);

    it('is waited for, and is an older state of it where it has not what was acknowledged', async () => {
      const store = openTestStore(database.project());
      const journal = await store.create(runRef(1));
      await journal.append(started);
      await dump();
      await journal.append(callStarted(1));
      await drop();
      const appended = journal.append(callCompleted(1)).then(
        () => 'taken',
        (error: unknown) => error,
      );
      await expect(Promise.race([appended, sleep(700, 'waits')])).resolves.toBe('waits');
      await restore();
      expect(await appended).toMatchObject({ code: 'STORE_WENT_BACK' });
      await journal.close().catch(() => undefined);
      await store.close();
    });

    it('is no older state with a sealed run, where the run is not there: nobody else took it', async () => {
      const store = openTestStore(database.project());
      const journal = await store.create(runRef(1));
      await journal.append(started);
      await database.query('delete from mlld.events where run_id = (select max(run_id) from mlld.runs)');
      await database.query('delete from mlld.runs where run_id = (select max(run_id) from mlld.runs)');
      const key = `sha256:${'7'.repeat(64)}` as CallKey;
      await expect(journal.claims?.claim({ key })).rejects.toMatchObject({
        code: 'STORE_WENT_BACK',
        message: expect.stringContaining('not there'),
      });
      await expect(journal.append(callStarted(1))).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
      await journal.close().catch(() => undefined);
      await store.close();
    });

    it('has no room in a shared budget for a run that it has lost, whoever has the number of that now, and is not waited for', async () => {
      const store = openTestStore(database.project());
      await store.budgets.set('nightly', { unit: 'calls', total: 9 });
      const journal = await store.create(runRef(1));
      await journal.append(started);
      const reserve = () => store.budgets.reserve({ run: runRef(1), key: `sha256:${'7'.repeat(64)}`, try: 1, names: ['nightly'] });
      expect(await reserve()).toBeUndefined();
      await database.query("update mlld.runs set run = '20990101-000000-000-0000' where run_id = (select max(run_id) from mlld.runs)");
      await expect(reserve()).rejects.toMatchObject({ code: 'STORE_WENT_BACK', message: expect.stringContaining('not there') });
      await journal.close().catch(() => undefined);
      await store.close();
    });

    it('goes on where it has all that was acknowledged', async () => {
      const store = openTestStore(database.project());
      const journal = await store.create(runRef(2));
      await journal.append(started);
      await dump();
      await drop();
      const appended = journal.append(callStarted(1));
      await sleep(300);
      await restore();
      await appended;
      await journal.close();
      expect((await readRun(store, runRef(2))).events.map(factOf)).toEqual([started, callStarted(1)]);
      await store.close();
    });

    it('is a name that nobody knows for a process that has not reached it', async () => {
      await dump();
      await drop();
      const store = openTestStore(database.project());
      await expect(store.create(runRef(3)).then((journal) => journal.append(started))).rejects.toMatchObject({ code: 'STORE_REFUSED' });
      await store.close();
      await restore();
    });
  },
);
