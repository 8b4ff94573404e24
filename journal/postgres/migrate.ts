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
  /** Called when another process has the lock for longer than a moment, with who that is. */
  readonly onWait?: (holder: string) => void;
}

/** A shorter wait is not reported. */
const REPORT_AFTER_MS = 1000;

/** Throws STORE_SUPERUSER, STORE_NEWER, STORE_SCHEMA and what the database says. */
export async function migrate(sql: Transactions, { dryRun, asSuperuser, onWait }: MigrateOptions): Promise<MigrationReport> {
  const from = await versionOf(sql);
  if (from > SCHEMA_VERSION) throw newer(from);
  if (from === 0) await refuseOtherSchema(sql);
  const due = MIGRATIONS.filter(({ version }) => version > from);
  if (due.length > 0 && !dryRun) {
    if (!asSuperuser) await refuseSuperuser(sql);
    for (const migration of due) await apply(sql, migration, onWait);
  }
  const roles = dryRun || !(await ownsSchema(sql)) ? undefined : await withLock(sql, giveRoles, onWait);
  return { from, to: SCHEMA_VERSION, migrations: due.map(({ version, title }) => ({ version, title })), ...(roles && { roles }) };
}

/** MIGRATE-2 */
function withLock<T>(sql: Transactions, work: (sql: Sql) => Promise<T>, onWait: MigrateOptions['onWait']): Promise<T> {
  return sql.transaction(async (own) => {
    const [taken] = await own.query('select pg_try_advisory_xact_lock($1) as "isOurs"', [LOCK]);
    if (taken?.['isOurs'] !== true) await waitForLock(own, onWait);
    return work(own);
  });
}

async function waitForLock(own: Sql, onWait: MigrateOptions['onWait']): Promise<void> {
  const holder = await lockHolder(own);
  const timer = setTimeout(() => onWait?.(holder), REPORT_AFTER_MS);
  try {
    await own.query('select pg_advisory_xact_lock($1)', [LOCK]);
  } finally {
    clearTimeout(timer);
  }
}

/** `ada at 10.0.0.3 (process 1234 of the server)` */
async function lockHolder(own: Sql): Promise<string> {
  const [found] = await own.query(
    `select l.pid, a.usename as "user", host(a.client_addr) as host
     from pg_catalog.pg_locks l join pg_catalog.pg_database d on d.oid = l.database left join pg_catalog.pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = $1::bigint::oid and l.objsubid = 1
       and d.datname = current_database()`,
    [LOCK],
  );
  if (found === undefined) return 'somebody';
  const { user, host, pid } = found;
  return `${typeof user === 'string' ? user : 'a user'}${typeof host === 'string' ? ` at ${host}` : ''} (process ${String(pid)} of the server)`;
}

/** An older schema of this name is not ours, and may hold what somebody needs. */
async function refuseOtherSchema(sql: Sql): Promise<void> {
  const [found] = await sql.query(
    `select pg_catalog.pg_get_userbyid(n.nspowner) as owner, pg_catalog.pg_has_role(n.nspowner, 'usage') as "isOurs",
       exists (select from pg_catalog.pg_class c where c.relnamespace = n.oid)
         or exists (select from pg_catalog.pg_proc f where f.pronamespace = n.oid) as "isUsed"
     from pg_catalog.pg_namespace n where n.nspname = 'mlld'`,
  );
  if (found === undefined) return;
  const { owner, isOurs, isUsed } = found;
  const what = isUsed === true ? 'holds other things than a store' : 'is empty, and the store makes its own';
  const drop = isOurs === true ? 'drop schema mlld;' : `ask ${String(owner)} for it: drop schema mlld;`;
  throw new JournalError('STORE_SCHEMA', `the database has a schema mlld already, of ${String(owner)}: it ${what}`, {
    hint: isUsed === true ? 'name another database: a store needs the schema for itself' : `${drop} or name another database`,
  });
}

/** MIGRATE-1, MIGRATE-2 */
async function apply(sql: Transactions, { version, statements, minClient }: Migration, onWait: MigrateOptions['onWait']): Promise<void> {
  const migrateTo = async (own: Sql): Promise<void> => {
    if ((await versionOf(own)) >= version) return;
    await own.query(statements);
    await own.query(
      `insert into mlld.meta (version, min_client) values ($1, $2)
       on conflict (one) do update set version = excluded.version, min_client = excluded.min_client, migrated_at = now()`,
      [version, minClient],
    );
  };
  await withLock(sql, migrateTo, onWait);
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
