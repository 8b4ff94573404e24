/** Opens the journal of a project that was found already, looks at the store of a team, and makes its tables. team-store.md 1. */
import type { Connection, Row } from '../../../journal/postgres/connection.js';
import type { MigrateOptions, MigrationReport } from '../../../journal/postgres/migrate.js';
import type { StoreAddress } from '../../../journal/postgres/store-address.js';
import type { SharedBudget } from '../../../journal/postgres/limits/shared-budgets.js';
import type { TeamOffers, WorkerRun } from '../../../journal/postgres/workers/team-work.js';
import type { WaitingWorker } from '../../../journal/postgres/workers/waiting-workers.js';
import { storeConnection, storeUrl, type StorePlace } from '../../session/project-store.js';
import type { WorkerOptions, WorkerReport } from '../../session/workers/run-worker.js';

export { copyRuns, type NotCopied } from '../../session/upkeep/copy-runs.js';
export { damagedSpillsOf, describePush, pushSpills } from '../../session/upkeep/push-spills.js';
export { rebuildStore, type RebuildReport } from '../../session/upkeep/rebuild-store.js';
export { sealRun } from '../../session/upkeep/seal-run.js';
export { openProjectStore, storeUrl } from '../../session/project-store.js';

export interface StoreStatus {
  /** The address without its password; null where the runs are in files. */
  readonly store: string | null;
  readonly project?: string;
  /** The version of PostgreSQL. */
  readonly server?: string;
  readonly schema?: { readonly version: number; readonly minClient: number };
  /** The size of all tables, of all projects. */
  readonly bytes?: number;
  /** Those of this project. */
  readonly runs?: { readonly total: number; readonly alive: number };
  /** That all runs of this project share. */
  readonly budgets?: readonly SharedBudget[];
  /** Calls of this project that no worker executes yet. */
  readonly offers?: TeamOffers;
  /** Says in a line each which shared budgets and lanes can't be read. */
  readonly damaged?: readonly string[];
}

export interface WorkersReport {
  readonly workers: readonly WorkerRun[];
  /** Those that serve no run. */
  readonly idle: readonly WaitingWorker[];
  readonly offers: TeamOffers;
  readonly budgets: readonly SharedBudget[];
  /** Says in a line each which shared budgets and lanes can't be read. */
  readonly damaged: readonly string[];
}

type Place = Omit<StorePlace, 'sealingKey'>;

/** Each command that opens a store loads this file, and only a worker needs what executes calls. */
export async function runWorker(options: WorkerOptions): Promise<WorkerReport> {
  const { runWorker: run } = await import('../../session/workers/run-worker.js');
  return run(options);
}

/** Throws what the address and the server can be wrong about. */
export async function storeStatus(place: Place): Promise<StoreStatus> {
  const url = storeUrl(place);
  if (url === undefined) return { store: null };
  const { PgBudgets } = await import('../../../journal/postgres/limits/shared-budgets.js');
  const { waitingOffers } = await import('../../../journal/postgres/workers/team-work.js');
  const { damagedRows } = await import('../../../journal/postgres/activity/damaged-rows.js');
  return withConnection(place, url, async (connection, { shown, project }) => {
    const [meta] = await connection.query(
      `select version, min_client as "minClient", current_setting('server_version') as server,
      (select sum(pg_total_relation_size(c.oid)) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'mlld' and c.relkind = 'r')::float8 as bytes from mlld.meta`,
      [],
    );
    const [runs] = await connection.query(
      `select count(*)::int as total, count(*) filter (where not r.finished and mlld.is_alive(r.lease_until, r.lease_s))::int as alive
       from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id) where p.name = $1`,
      [project],
    );
    const number = (row: Row | undefined, name: string): number => Number(row?.[name] ?? 0);
    return {
      store: shown,
      project,
      server: String(meta?.['server'] ?? ''),
      schema: { version: number(meta, 'version'), minClient: number(meta, 'minClient') },
      bytes: number(meta, 'bytes'),
      runs: { total: number(runs, 'total'), alive: number(runs, 'alive') },
      budgets: await new PgBudgets({ sql: connection, project, leaseMs: 0 }).list(),
      offers: await waitingOffers(connection, project),
      damaged: await damagedRows(connection, project),
    };
  });
}

/** Undefined where the runs are in files. Throws what the address and the server can be wrong about. */
export async function workerStatus(place: Place): Promise<WorkersReport | undefined> {
  const url = storeUrl(place);
  if (url === undefined) return undefined;
  const { PgBudgets } = await import('../../../journal/postgres/limits/shared-budgets.js');
  const { livingWorkers, waitingOffers } = await import('../../../journal/postgres/workers/team-work.js');
  const { waitingWorkers } = await import('../../../journal/postgres/workers/waiting-workers.js');
  const { damagedRows } = await import('../../../journal/postgres/activity/damaged-rows.js');
  return withConnection(place, url, async (connection, { project }) => ({
    workers: await livingWorkers(connection, project),
    idle: await waitingWorkers(connection, project),
    offers: await waitingOffers(connection, project),
    budgets: await new PgBudgets({ sql: connection, project, leaseMs: 0 }).list(),
    damaged: await damagedRows(connection, project),
  }));
}

/** Undefined where the runs are in files. Throws STORE_SUPERUSER, STORE_NEWER, STORE_UNFIT. */
export async function migrateStore(
  place: Place,
  options: MigrateOptions,
): Promise<(MigrationReport & { readonly store: string }) | undefined> {
  const url = storeUrl(place);
  if (url === undefined) return undefined;
  const { migrate } = await import('../../../journal/postgres/migrate.js');
  const { refuseUnfitServer } = await import('../../../journal/postgres/open-store.js');
  return withConnection(place, url, async (connection, { shown }) => {
    await refuseUnfitServer(connection, place.environment['MLLD_STORE_UNSAFE'] === '1');
    return { store: shown, ...(await migrate(connection, options)) };
  });
}

async function withConnection<T>(
  place: Place,
  url: string,
  work: (connection: Connection, address: StoreAddress) => Promise<T>,
): Promise<T> {
  const { address, connect } = await storeConnection(place, url);
  const { Connection } = await import('../../../journal/postgres/connection.js');
  const connection = new Connection(connect, async () => undefined, address.shown);
  try {
    return await work(connection, address);
  } finally {
    await connection.close();
  }
}
