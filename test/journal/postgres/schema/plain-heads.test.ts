/** An append changes the row of its run, and the server evaluates nothing for it that the append could not change. team-store.md 17. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../../../journal/postgres/migrate.js';
import { Connection } from '../../../../journal/postgres/connection.js';
import { connectClient } from '../../../../journal/postgres/pg-client.js';
import { MIGRATIONS } from '../../../../journal/postgres/schema/migrations.js';
import { parseStoreAddress } from '../../../../journal/postgres/store-address.js';
import { runRef, smallRun } from '../../support/facts.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

/** The version before the roles of runs were those of a type. */
const CHECKED = 15;

describe.skipIf(noServer !== undefined)(`heads of runs${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const made = (options: { readonly migrated: boolean }): Promise<TestDatabase> =>
    noServer === undefined ? makeDatabase(options) : Promise.resolve(undefined as unknown as TestDatabase);
  const database = await made({ migrated: true });
  const older = await made({ migrated: false });

  const begin = async ({ query }: TestDatabase, run: string): Promise<string> => {
    const [row] = await query(`select mlld.begin_run('p', 'w.mld', $1, $2, 60, 'host', 1)::text as id`, [run, randomUUID()]);
    return String(row?.['id']);
  };
  const rolesOf = async ({ query }: TestDatabase): Promise<readonly unknown[]> =>
    (await query('select role from mlld.runs order by run', [])).map(({ role }) => role);
  const refused = { cause: expect.objectContaining({ code: '23514' }) };

  it('have no checks, which the server would plan and evaluate with each append', async () => {
    const checks = await database.query(
      `select conname from pg_constraint where contype = 'c'
         and conrelid in ('mlld.runs'::regclass, 'mlld.events'::regclass, 'mlld.answers'::regclass, 'mlld.claims'::regclass, 'mlld.offers'::regclass)`,
      [],
    );
    expect(checks).toEqual([]);
  });

  it('belong to runs of a known role, whoever writes them', async () => {
    const id = await begin(database, 'r1');
    await expect(database.query(`update mlld.runs set role = 'nobody' where run_id = $1`, [id])).rejects.toMatchObject(refused);
    const insert = `insert into mlld.runs (workflow_id, run, writer, lease_until, role)
      select workflow_id, 'r2', $2, now(), $1 from mlld.workflows`;
    await expect(database.query(insert, ['nobody', randomUUID()])).rejects.toMatchObject(refused);
    await database.query(insert, ['worker', randomUUID()]);
    expect(await rolesOf(database)).toEqual(['run', 'worker']);
  });

  it('are moved by a statement that returns no row', async () => {
    const url = database.project();
    const address = parseStoreAddress(url, { environment: {} });
    const answers: (readonly unknown[])[] = [];
    const store = openTestStore(url, {
      async connect(onLost) {
        const client = await connectClient(address, { connectMs: 5000, onLost });
        return {
          ...client,
          async query(text, values, timeoutMs) {
            const rows = await client.query(text, values, timeoutMs);
            if (text.includes('mlld.append')) answers.push(rows);
            return rows;
          },
        };
      },
    });
    const journal = await store.create(runRef(1));
    for (const fact of smallRun) await journal.append(fact);
    await journal.close();
    await store.close();
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.flat()).toEqual([]);
  });

  it('keep what they were when a store of an older version is lifted, and programs that were connected go on', async () => {
    for (const { version, statements } of MIGRATIONS) if (version <= CHECKED) await older.query(statements);
    await older.query('insert into mlld.meta (version, min_client) values ($1, 3)', [CHECKED]);
    const id = await begin(older, 'r1');
    await older.query(`update mlld.runs set role = 'salvage' where run_id = $1`, [id]);
    const address = parseStoreAddress(older.project(), { environment: {} });
    const writer = await connectClient(address, { connectMs: 5000, onLost: () => undefined });
    const head = ['0'.repeat(64), 'a'.repeat(64), 'b'.repeat(64)];
    const append = (n: number): Promise<unknown> => {
      const key = `key ${n}`;
      const results = JSON.stringify([{ key, seq: n, at: 5 * n, bytes: 4 }]);
      const values = [id, 0, n, head[n], 'line', [5 * n], 5 * n + 5, head[n + 1], false, [], results, [key]];
      return writer.query('select where mlld.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) is null', values);
    };
    await writer.query('select 1', []);
    await append(0);
    const owner = new Connection(
      (onLost) => connectClient(address, { connectMs: 5000, onLost }),
      async () => undefined,
      address.shown,
    );
    expect(await migrate(owner, { dryRun: false, asSuperuser: true })).toMatchObject({ from: CHECKED });
    await owner.close();
    await append(1);
    await writer.end();
    expect(await rolesOf(older)).toEqual(['salvage']);
    expect(await older.query('select key, seq, at::int, bytes from mlld.answers order by seq', [])).toEqual([
      { key: 'key 0', seq: 0, at: 0, bytes: 4 },
      { key: 'key 1', seq: 1, at: 5, bytes: 4 },
    ]);
  });
});
