/** A migration that is cut off at any of its commands leaves the tables as they were, and the next one makes them whole. MIGRATE-1. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Connection } from '../../../../journal/postgres/connection.js';
import { migrate } from '../../../../journal/postgres/migrate.js';
import { connectClient } from '../../../../journal/postgres/pg-client.js';
import { MIGRATIONS } from '../../../../journal/postgres/schema/migrations.js';
import { parseStoreAddress } from '../../../../journal/postgres/store-address.js';
import { projectFolder, resultOf, startCli } from '../../../support/cli.js';
import { runRef, smallRun } from '../../support/facts.js';
import { readRun } from '../../support/read.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

const FIRST = 13;
/** The server calls it behind each command that changes a table or function: it ends the n-th one, or lets it wait to be killed. */
const CUT = `
create table public.cut (at int, waits boolean);
create function public.cut_off() returns event_trigger language plpgsql as $$
declare
  v_done int := coalesce(nullif(current_setting('cut.done', true), ''), '0')::int + 1;
  v_cut public.cut := (select c from public.cut c);
begin
  perform set_config('cut.done', v_done::text, true);
  if v_done = v_cut.at then
    if v_cut.waits then perform pg_sleep(60); end if;
    raise exception 'cut off';
  end if;
end $$;
create event trigger cut_off on ddl_command_end execute function public.cut_off();`;
/** All that the schema is made of, and what migrations change in rows. */
const SCHEMA = `select jsonb_build_array(
  (select jsonb_agg(pg_get_functiondef(p.oid) order by p.oid::regprocedure::text) from pg_proc p where p.pronamespace = 'mlld'::regnamespace),
  (select jsonb_agg(jsonb_build_array(a.attrelid::regclass::text, a.attname, a.atttypid::regtype::text, a.attnotnull) order by a.attrelid::regclass::text, a.attnum)
    from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace = 'mlld'::regnamespace and a.attnum > 0),
  (select jsonb_agg(pg_get_constraintdef(k.oid) order by k.conname, k.oid::text) from pg_constraint k where k.connamespace = 'mlld'::regnamespace),
  (select jsonb_agg(tgname order by tgname) from pg_trigger where not tgisinternal),
  (select version from mlld.meta), (select jsonb_agg(o.declined order by o.key) from mlld.offers o),
  (select jsonb_agg(b.total::text) from mlld.budgets b), (select jsonb_agg(l.blocked_until::text) from mlld.limits l))::text as state`;

describe.skipIf(noServer !== undefined)(
  `a migration that is cut off${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const made = (): Promise<TestDatabase> =>
      noServer === undefined ? makeDatabase({ migrated: false }) : Promise.resolve(undefined as unknown as TestDatabase);
    const [database, killed] = [await made(), await made()];

    const migrated = async ({ url }: TestDatabase) => {
      const address = parseStoreAddress(url, { project: 'none', environment: {} });
      const connect = (onLost: () => void) => connectClient(address, { connectMs: 5000, onLost });
      const owner = new Connection(connect, async () => undefined, address.shown);
      const report = await migrate(owner, { dryRun: false, asSuperuser: true });
      await owner.close();
      return report;
    };
    const stateOf = async ({ query }: TestDatabase): Promise<unknown> => (await query(SCHEMA, []))[0]?.['state'];
    const cutAt = ({ query }: TestDatabase, at: number, waits: boolean): Promise<unknown> =>
      query(`with gone as (delete from public.cut) insert into public.cut values ($1, $2)`, [at, waits]);

    /** Makes the tables of the version before the first one, with rows that later ones change. */
    async function begin({ query }: TestDatabase): Promise<void> {
      for (const { version, statements } of MIGRATIONS) if (version < FIRST) await query(statements);
      await query('insert into mlld.meta (version, min_client) values ($1, 3)', [FIRST - 1]);
      await query(`select mlld.begin_run('p', 'w.mld', 'r1', gen_random_uuid(), 60, 'host', 1)`);
      await query(`insert into mlld.budgets (project_id, name, unit, total) values (1, 'a', 'usd', 'NaN')`);
      await query(
        `insert into mlld.limits (project_id, lane, tokens, per_second, burst, updated_at, blocked_until) values (1, 'l', 0, 0, 0, now(), 'infinity')`,
      );
      await query(
        `insert into mlld.offers (workflow_id, key, run_id, call, declined) values (1, 'a', 1, '{}', '7'), (1, 'b', 1, '{}', '{"w":{}}')`,
      );
      await query(CUT);
    }

    beforeAll(async () => {
      if (noServer !== undefined) return;
      await begin(database);
      await begin(killed);
    });

    it.each(MIGRATIONS.filter(({ version }) => version >= FIRST))(
      'to version $version changes nothing',
      { timeout: 120_000 },
      async ({ version }) => {
        const before = await stateOf(database);
        const { statements, minClient } = MIGRATIONS[version - 1]!;
        let cuts = 0;
        for (let at = 1; ; at++) {
          await cutAt(database, at, false);
          const isWhole = await database.query(`${statements}; update mlld.meta set version = ${version}, min_client = ${minClient}`).then(
            () => true,
            (error: Error) => !error.message.includes('cut off'),
          );
          if (isWhole) break;
          cuts++;
          expect(await stateOf(database)).toBe(before);
        }
        expect(cuts).toBeGreaterThan(0);
        expect(await stateOf(database)).not.toBe(before);
      },
    );

    it('by a kill of its process is made by the next one, and the store works', { timeout: 120_000 }, async () => {
      const cwd = await projectFolder({ 'mlld-config.json': '{}' });
      const url = killed.project();
      for (let at = 1; at <= 3; at++) {
        const before = await stateOf(killed);
        await cutAt(killed, at, true);
        const child = startCli(['store', 'migrate', '--yes'], { cwd, env: { MLLD_STORE: url } });
        const ended = resultOf(child);
        const waiting = async (): Promise<readonly unknown[]> =>
          killed.query(`select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`, []);
        await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), { timeout: 20_000, interval: 50 });
        child.kill('SIGKILL');
        expect((await ended).status).toBeUndefined();
        await killed.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
          [],
        );
        await vi.waitFor(async () => expect(await waiting()).toHaveLength(0), { timeout: 20_000, interval: 50 });
        expect(await stateOf(killed)).toBe(before);
      }
      await cutAt(killed, 0, false);
      expect(await migrated(killed)).toMatchObject({ from: FIRST - 1, to: MIGRATIONS.length });
      expect(await stateOf(killed)).toBe(await stateOf(database)); // however often it was begun
      const store = openTestStore(url);
      const journal = await store.create(runRef(1));
      for (const fact of smallRun) await journal.append(fact);
      await journal.close();
      expect((await readRun(store, runRef(1))).defects).toEqual([]);
      await store.close();
    });
  },
);
