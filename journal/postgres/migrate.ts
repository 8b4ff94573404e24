/**
 * Creates the schema of a store, or lifts it to the version of this program.
 *
 * MIGRATE-1 Each migration is one transaction together with the version that it leads to: a kill leaves the schema before or after it.
 * MIGRATE-2 A lock of the database lets one process migrate at a time, and the version is read behind it: of two that begin at once,
 *    the second finds nothing to do.
 */
import { JournalError } from '../errors.js';
import type { Sql, Transactions } from './connection.js';
import { MIGRATIONS, SCHEMA_VERSION, type Migration } from './schema/migrations.js';
import { giveRoles, ownsSchema, type RolesReport } from './schema/roles.js';

export interface MigrationReport {
  /** 0 where there was no schema. */
  readonly from: number;
  readonly to: number;
  /** Applied, or to be applied when it was a dry run. */
  readonly migrations: readonly { readonly version: number; readonly title: string }[];
  /** Absent after a dry run, and for a user who does not own the schema. */
  readonly roles?: RolesReport;
}

/** One of the numbers that locks of a database go by. */
const LOCK = 0x6d6c6c64;

export interface MigrateOptions {
  readonly dryRun: boolean;
  /** Allows a superuser, who would own all of it. */
  readonly asSuperuser: boolean;
}

/** Throws STORE_SUPERUSER, STORE_NEWER and what the database says. */
export async function migrate(sql: Transactions, { dryRun, asSuperuser }: MigrateOptions): Promise<MigrationReport> {
  const from = await versionOf(sql);
  if (from > SCHEMA_VERSION) throw newer(from);
  const due = MIGRATIONS.filter(({ version }) => version > from);
  if (due.length > 0 && !dryRun) {
    if (!asSuperuser) await refuseSuperuser(sql);
    for (const migration of due) await apply(sql, migration);
  }
  const roles = dryRun || !(await ownsSchema(sql)) ? undefined : await withLock(sql, giveRoles);
  return { from, to: SCHEMA_VERSION, migrations: due.map(({ version, title }) => ({ version, title })), ...(roles && { roles }) };
}

/** MIGRATE-2 */
function withLock<T>(sql: Transactions, work: (sql: Sql) => Promise<T>): Promise<T> {
  return sql.transaction(async (own) => {
    await own.query('select pg_advisory_xact_lock($1)', [LOCK]);
    return work(own);
  });
}

/** MIGRATE-1, MIGRATE-2 */
async function apply(sql: Transactions, { version, statements, minClient }: Migration): Promise<void> {
  await withLock(sql, async (own) => {
    if ((await versionOf(own)) >= version) return;
    await own.query(statements);
    await own.query(
      `insert into mlld.meta (version, min_client) values ($1, $2)
       on conflict (one) do update set version = excluded.version, min_client = excluded.min_client, migrated_at = now()`,
      [version, minClient],
    );
  });
}

async function versionOf(sql: Sql): Promise<number> {
  // Reading the catalogue sees what another process has just committed; `to_regclass` may repeat what it has said before.
  const [found] = await sql.query(
    `select exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'mlld' and c.relname = 'meta') as "exists"`,
  );
  if (found?.['exists'] !== true) return 0;
  const [meta] = await sql.query('select version from mlld.meta');
  return Number(meta?.['version'] ?? 0);
}

async function refuseSuperuser(sql: Sql): Promise<void> {
  const [user] = await sql.query('select rolsuper as "isSuperuser" from pg_catalog.pg_roles where rolname = current_user');
  if (user?.['isSuperuser'] !== true) return;
  throw new JournalError('STORE_SUPERUSER', 'a superuser would own the tables of the store', {
    hint: 'connect as the owner of the database, or add --yes',
  });
}

export function newer(version: number): JournalError {
  return new JournalError('STORE_NEWER', `the schema of the store is of version ${version}, and this program knows ${SCHEMA_VERSION}`, {
    hint: 'install the version of mlld that the others use; nothing was changed',
  });
}
