/**
 * Gives the users of a store roles with the least rights that their commands need. team-store.md 9.1.
 *
 * ROLES-1 Events are append-only by privilege: who records may neither change nor delete them, nor seal a run (raise its fence), but one
 *    without a living writer that a new run goes on with (TAKING-OVER-4).
 * ROLES-2 The statements can be repeated: each `mlld store migrate` of the owner makes what is missing, and gives rights to new tables.
 * ROLES-3 Each role has its rights itself, and is a member of no other: roles belong to the whole server, and stores that are migrated at
 *    the same time would be in each other's way.
 */

interface Row {
  readonly [column: string]: unknown;
}

/** A connection of the owner. */
interface Sql {
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

interface Role {
  readonly name: string;
  /** Begins behind "may". */
  readonly may: string;
  readonly grants: readonly string[];
}

const LOOK = ['usage on schema mlld', 'select on all tables in schema mlld'];
/** The index of results, the locks of calls and the list of workers are written by whoever executes calls. */
const CALLS = ['answers', 'claims', 'reservations', 'limits', 'lane_events', 'workers'].map(
  (table) => `insert, update, delete on mlld.${table}`,
);
const RECORD = [
  ...LOOK,
  ...['projects', 'workflows', 'runs', 'events', 'blobs', 'blob_parts', 'blob_uses'].map((table) => `insert on mlld.${table}`),
  'update (next_seq, bytes, hash, finished, lease_until) on mlld.runs',
  'update (touched_at) on mlld.blobs',
  'execute on function mlld.drop_damaged(text, text)',
  ...CALLS,
];
const RUN = [
  ...RECORD,
  ...['asides', 'turns', 'offers', 'budgets'].map((table) => `insert, update, delete on mlld.${table}`),
  'execute on function mlld.take_over(int, text, bigint, int)',
];

const ROLES: readonly Role[] = [
  { name: 'mlld_read', may: 'list, show and compare runs', grants: LOOK },
  { name: 'mlld_run', may: 'record runs', grants: RUN },
  {
    name: 'mlld_worker',
    may: 'execute calls of other runs',
    grants: [
      ...RECORD,
      'update, delete on mlld.offers',
      'update (spent, reserved, began, largest) on mlld.budgets',
      'insert, update, delete on mlld.turns',
    ],
  },
  {
    name: 'mlld_keeper',
    may: 'seal, redact and remove runs',
    grants: [
      ...RUN,
      'update, delete on mlld.runs',
      'update, delete on mlld.events',
      ...['blobs', 'blob_parts', 'blob_uses'].map((table) => `delete on mlld.${table}`),
    ],
  },
];

/** Owns schema and tables: its members migrate, and vacuum behind a redaction. */
const OWNER = 'mlld_owner';

export interface RolesReport {
  /** The roles that have their rights now. */
  readonly ready: readonly string[];
  /** Those that the user may not make. */
  readonly missing: readonly string[];
}

/** Makes the roles that are missing, where the user may, and gives all of them their rights. Must be called in a transaction. */
export async function giveRoles(sql: Sql): Promise<RolesReport> {
  const names = [...ROLES.map(({ name }) => name), OWNER];
  const [user] = await sql.query('select rolsuper or rolcreaterole as "mayMake" from pg_catalog.pg_roles where rolname = current_user');
  if (user?.['mayMake'] === true) await sql.query(names.map(makeRole).join('\n'));
  const found = new Set((await sql.query('select rolname from pg_catalog.pg_roles where rolname = any ($1)', [names])).map(nameOf));
  for (const { name, grants } of ROLES) {
    if (found.has(name)) await sql.query(grants.map((grant) => `grant ${grant} to ${name};`).join('\n'));
  }
  if (found.has(OWNER)) await sql.query(HAND_OVER);
  return { ready: names.filter((name) => found.has(name)), missing: names.filter((name) => !found.has(name)) };
}

/** True for the user who may give rights to the tables. */
export async function ownsSchema(sql: Sql): Promise<boolean> {
  const [schema] = await sql.query(
    `select pg_catalog.pg_has_role(nspowner, 'usage') as owns from pg_catalog.pg_namespace where nspname = 'mlld'`,
  );
  return schema?.['owns'] === true;
}

const nameOf = (row: Row): string => String(row['rolname']);

/** Another store of the same server may be making it at this moment. */
const makeRole = (name: string): string => `do $$ begin
  if not exists (select from pg_catalog.pg_roles where rolname = '${name}') then
    create role ${name} nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;`;

/** Whoever migrates keeps the rights of an owner: as its member, or as a superuser. Where it is neither, it stays the owner. */
const HAND_OVER = `do $$
declare
  v_name text;
begin
  if not pg_catalog.pg_has_role('${OWNER}', 'member') then return; end if;
  if exists (select from pg_catalog.pg_namespace where nspname = 'mlld' and nspowner <> '${OWNER}'::regrole) then
    execute 'alter schema mlld owner to ${OWNER}';
  end if;
  for v_name in select c.oid::regclass::text from pg_catalog.pg_class c
    where c.relnamespace = 'mlld'::regnamespace and c.relkind = 'r' and c.relowner <> '${OWNER}'::regrole loop
    execute 'alter table ' || v_name || ' owner to ${OWNER}';
  end loop;
  for v_name in select p.oid::regprocedure::text from pg_catalog.pg_proc p
    where p.pronamespace = 'mlld'::regnamespace and p.proowner <> '${OWNER}'::regrole loop
    execute 'alter function ' || v_name || ' owner to ${OWNER}';
  end loop;
  for v_name in select t.oid::regtype::text from pg_catalog.pg_type t
    where t.typnamespace = 'mlld'::regnamespace and t.typtype = 'd' and t.typowner <> '${OWNER}'::regrole loop
    execute 'alter domain ' || v_name || ' owner to ${OWNER}';
  end loop;
exception when insufficient_privilege then null; -- a member that may not act as the role
end $$;`;

const OWNERS = /^\s*(create|alter|drop|grant|vacuum|do)\b/;
const KEEPERS = /delete from mlld\.(events|runs|blobs|blob_parts|blob_uses|asides)|update mlld\.events|set fence|rewritten = /;
const WORKERS = /mlld\.take_offers\(|(insert into|delete from) mlld\.workers\b/;
const WRITES =
  /\b(insert into|update|delete from) mlld\.|mlld\.(append|begin_run|begin_after|put_blob|put_part|drop_damaged|workflow_of|claim|sweep_claims|withdraw_offers|reserve|end_reservations|exchange)\(/;

/** The first one that fits says which role a statement needs. */
const NEEDED = [
  ['mlld_keeper', KEEPERS],
  ['mlld_worker', WORKERS],
  ['mlld_run', WRITES],
] as const;

/** A statement of each purpose for which a store is opened, which says what role a user without any needs. */
export const STATEMENT_FOR = { recording: 'select mlld.begin_run()', working: 'select mlld.take_offers()' } as const;

/** Returns what helps a user whose statement was refused. The roles may not exist yet where it was to make them. */
export function hintOfDenied(statement: string): string {
  if (OWNERS.test(statement)) {
    return `the owner of the database has to run this; where its tables exist, so may members of the role ${OWNER}`;
  }
  const [needed] = NEEDED.find(([, statements]) => statements.test(statement)) ?? ['mlld_read'];
  const { name, may } = ROLES.find((role) => role.name === needed) as Role;
  const needs = `this needs the role ${name}, which may ${may}: ask the owner of the database to grant it to your user`;
  return `${needs}, or where your user has it, to run mlld store migrate, which gives it its rights again`;
}
