/** Each role may do what its commands need and nothing else, and errors name the one that is missing. team-store.md 9.1. */
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { Connection } from '../../../journal/postgres/connection.js';
import { migrate } from '../../../journal/postgres/migrate.js';
import type { TeamStore } from '../../../journal/postgres/open-store.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';
import { runRef, smallRun, workflow } from '../support/facts.js';
import { readRun } from '../support/read.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from './database.js';

const BECAUSE = { at: '2026-11-21T09:00:00.000Z', reason: 'asked for' };

describe.skipIf(noServer !== undefined)(`roles of a store${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const empty = noServer === undefined ? await makeDatabase({ migrated: false }) : database;
  const mark = randomBytes(4).toString('hex');
  const users: string[] = [];

  afterAll(async () => {
    for (const user of users) await database.query(`drop owned by ${user}; drop role ${user}`);
  });

  /** Makes a user of the server that has a role, and returns the address of the store as theirs. */
  async function userWith(role: string, url: string): Promise<string> {
    const user = `mlld_test_${mark}_${users.length}`;
    await database.query(`create role ${user} login; ${role === '' ? '' : `grant ${role} to ${user}`}`);
    users.push(user);
    const own = new URL(url);
    own.username = user;
    return own.href;
  }

  async function record(store: TeamStore, n: number): Promise<void> {
    const unlock = await store.acquireWorkflowLock(workflow);
    const journal = await store.create(runRef(n));
    for (const fact of smallRun) await journal.append(fact);
    await store.putBlob(`of one part ${n}`);
    await store.putBlob(Buffer.alloc(2_500_000, n));
    await store.writeDerived(workflow, 'index', 'derived');
    await store.writeDerived(workflow, 'index', 'derived again');
    await journal.close();
    await unlock();
  }

  const connectionOf = (url: string): Connection => {
    const address = parseStoreAddress(url, { environment: {} });
    return new Connection(
      (onLost) => connectClient(address, { connectMs: 5000, onLost }),
      async () => undefined,
      address.shown,
    );
  };
  const edit = (event: JournalEvent): JournalEvent | undefined =>
    event.type === 'call.completed' ? { ...event, result: { redacted: 'x' } } : undefined;

  it('never has a function of a colleague called in the place of one of the server', async () => {
    const url = database.project();
    const store = openTestStore(url);
    await database.query(
      `create table public.called (by text); create function public.make_interval(secs text) returns interval language plpgsql as $$
         begin insert into public.called values (current_user); return interval '1 minute'; end $$`,
    );
    await record(store, 1);
    expect(await database.query('select * from public.called')).toEqual([]);
    await database.query('drop function public.make_interval(text); drop table public.called');
    await store.close();
  });

  it('let a runner record and read, and neither change nor remove what is recorded', async () => {
    const url = await userWith('mlld_run', database.project());
    const store = openTestStore(url);
    await record(store, 1);
    await record(store, 2);
    expect((await store.runs(workflow)).map(({ liveness }) => liveness)).toEqual(['finished', 'finished']);
    expect((await readRun(store, runRef(1))).defects).toEqual([]);
    const keeper = await store.keeper();
    const denied = { code: 'STORE_DENIED', hint: expect.stringContaining('mlld_keeper') };
    await expect(keeper.rewriteRun(runRef(1), edit, BECAUSE)).rejects.toMatchObject(denied);
    await expect(keeper.deleteRun(runRef(1))).rejects.toMatchObject(denied);
    const [ended] = await store.runs(workflow);
    await (await store.create(runRef(3), { continues: ended })).close(); // the one way in which it may raise a fence
    await store.close();
    const own = connectionOf(url);
    for (const statement of [
      `update mlld.events set line = ''`,
      'delete from mlld.events',
      'delete from mlld.runs',
      'update mlld.runs set fence = fence + 1',
      'delete from mlld.blobs',
      'truncate mlld.events',
      'drop table mlld.events',
    ]) {
      await expect(own.query(statement, []), statement).rejects.toMatchObject({ code: 'STORE_DENIED' });
    }
    await own.close();
  });

  it('let a reader read everything, and record nothing', async () => {
    const project = database.project();
    const writing = openTestStore(project);
    await record(writing, 1);
    await writing.close();
    const store = openTestStore(await userWith('mlld_read', project));
    expect((await readRun(store, runRef(1))).events).toHaveLength(smallRun.length);
    expect(Buffer.from((await store.readDerived(workflow, 'index'))!).toString()).toBe('derived again');
    const denied = { code: 'STORE_DENIED', hint: expect.stringContaining('mlld_run') };
    await expect(store.create(runRef(2))).rejects.toMatchObject(denied);
    await expect(store.putBlob('x')).rejects.toMatchObject(denied);
    await expect(store.acquireWorkflowLock(workflow)).rejects.toMatchObject(denied);
    const [ended] = await store.runs(workflow);
    await expect(store.create(runRef(2), { continues: ended })).rejects.toMatchObject(denied);
    const asWorker = store.workers.present({ name: 'hut', version: '0.1.0', lanes: { '': 1 } });
    await expect(asWorker).rejects.toMatchObject({ code: 'STORE_DENIED', hint: expect.stringContaining('mlld_worker') });
    await store.close();
  });

  it('say which one is missing to a user who has none', async () => {
    const url = await userWith('', database.project());
    for (const [purpose, role] of [
      [undefined, 'mlld_read'],
      ['recording', 'mlld_run'],
      ['working', 'mlld_worker'],
    ] as const) {
      const store = openTestStore(url, { purpose });
      await expect(store.runs(workflow)).rejects.toMatchObject({ code: 'STORE_DENIED', hint: expect.stringContaining(role) });
      await store.close();
    }
  });

  it('say what helps a user who has the role, but whose role lacks a right', async () => {
    const store = openTestStore(await userWith('mlld_run', database.project()));
    await database.query('revoke insert on mlld.blobs from mlld_run');
    const error = await store.putBlob('not taken').catch((caught: unknown) => caught);
    await database.query('grant insert on mlld.blobs to mlld_run');
    await store.close();
    expect(error).toMatchObject({
      code: 'STORE_DENIED',
      hint: expect.stringMatching(/role mlld_run.* or where your user has it, to run mlld store migrate/),
    });
  });

  it('let a keeper redact and remove, and say what the owner has to do', async () => {
    const store = openTestStore(await userWith('mlld_keeper', database.project()));
    await record(store, 1);
    await record(store, 2);
    const keeper = await store.keeper();
    await keeper.recover();
    expect(await keeper.rewriteRun(runRef(1), edit, BECAUSE)).toBe(2);
    expect(await keeper.purge()).toBe(
      'vacuum mlld.events; vacuum mlld.blob_parts; vacuum mlld.asides; vacuum mlld.offers; vacuum mlld.limits; vacuum mlld.lane_events;',
    );
    await keeper.deleteRun(runRef(2));
    expect(await store.runs(workflow)).toHaveLength(1);
    await store.close();
  });

  it('let only the owner migrate, whose role its members share', async () => {
    const runner = connectionOf(await userWith('mlld_run', empty.project()));
    const options = { dryRun: false, asSuperuser: false };
    const denied = { code: 'STORE_DENIED', hint: expect.stringContaining('mlld_owner') };
    await expect(migrate(runner, options)).rejects.toMatchObject(denied);
    await runner.close();

    const url = await userWith('mlld_owner', empty.project());
    await empty.query(`grant create on database ${new URL(url).pathname.slice(1)} to mlld_owner`, []);
    const owner = connectionOf(url);
    const { from, roles } = await migrate(owner, options);
    expect({ from, roles }).toEqual({
      from: 0,
      roles: { ready: ['mlld_read', 'mlld_run', 'mlld_worker', 'mlld_keeper', 'mlld_owner'], missing: [] },
    });
    await owner.close();
    const owners = await empty.query(
      `select distinct pg_get_userbyid(owner) as name from (
         select relowner, relnamespace from pg_class where relkind = 'r' union all select proowner, pronamespace from pg_proc
         union all select typowner, typnamespace from pg_type where typtype = 'd') o (owner, namespace)
       where namespace = 'mlld'::regnamespace`,
      [],
    );
    expect(owners).toEqual([{ name: 'mlld_owner' }]);
    const other = connectionOf(await userWith('mlld_owner', url));
    expect(await migrate(other, options)).toMatchObject({ migrations: [], roles: { missing: [] } });
    await other.query('vacuum mlld.events', []);
    await other.close();
  });

  it('raise a fence only where they record runs', async () => {
    const may = await database.query(
      `select r.rolname as name from pg_roles r where r.rolname in ('mlld_read', 'mlld_run', 'mlld_worker', 'mlld_keeper', 'pg_monitor')
         and has_function_privilege(r.rolname, 'mlld.take_over(int, text, bigint, int)', 'execute') order by 1`,
      [],
    );
    expect(may.map(({ name }) => name)).toEqual(['mlld_keeper', 'mlld_run']);
    const definers = await database.query(
      `select proname as name, proconfig as settings from pg_proc where pronamespace = 'mlld'::regnamespace and prosecdef order by 1`,
      [],
    );
    const settings = ['search_path=pg_catalog, pg_temp'];
    expect(definers).toEqual([
      { name: 'drop_damaged', settings },
      { name: 'take_over', settings },
    ]);
  });

  it('store a damaged blob again, without the right to remove one', async () => {
    const url = await userWith('mlld_worker', database.project());
    const store = openTestStore(url);
    const { blob } = await store.putBlob('a paid result');
    await database.query(`update mlld.blob_parts set content = 'another' where digest = $1`, [blob]);
    await store.putBlob('a paid result');
    expect(String(await store.getBlob(blob))).toBe('a paid result');
    await store.close();

    const reader = connectionOf(await userWith('mlld_read', url));
    await expect(reader.query('select mlld.drop_damaged($1, $2)', ['any', blob])).rejects.toMatchObject({ code: 'STORE_DENIED' });
    await reader.close();
  });

  it('have rights to each table of the schema', async () => {
    const tables = await database.query(
      `select c.relname, has_table_privilege('mlld_run', c.oid, 'insert') as runs, has_table_privilege('mlld_read', c.oid, 'select') as reads
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'mlld' and c.relkind = 'r'`,
      [],
    );
    expect(tables.filter(({ reads }) => reads !== true)).toEqual([]);
    expect(tables.filter(({ runs }) => runs !== true).map(({ relname }) => relname)).toEqual(['meta']);
  });
});
