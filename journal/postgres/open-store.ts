/** Opens a team's store: the connections that it has, each with a look at the server first (CONNECTION-1). Opening does no work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { JournalError } from '../errors.js';
import { openKeyring, type KeySource } from '../secrets/keyring.js';
import { withPayloads } from '../secrets/payload-store.js';
import type { RunRef } from '../ids.js';
import type { KeptStore } from '../upkeep/keeper.js';
import type { JournalStore } from '../store.js';
import type { Hints } from '../storage/hints.js';
import type { IndexFolder } from '../storage/index-files.js';
import type { TeamWorkers } from '../storage/workers.js';
import { Connection, type Connect, type Limits, type Row, type Sql, type SqlClient } from './connection.js';
import { PgHints } from './hints/pg-hints.js';
import { PgLanes, type LaneLog } from './limits/shared-lanes.js';
import { PgActivity, type Activity } from './activity/pg-activity.js';
import { PgBudgets, type SharedBudgets } from './limits/shared-budgets.js';
import { newer } from './migrate.js';
import { PgStore } from './pg-store.js';
import type { RebuildOptions, RebuildOutcome } from './rebuild/rebuild-index.js';
import type { PushedSpill } from './spill/push-spills.js';
import type { SpillPlace } from './spill/spill-file.js';
import { PgWorkers } from './workers/pg-workers.js';
import { SCHEMA_VERSION } from './schema/migrations.js';
import { STATEMENT_FOR } from './schema/roles.js';
import { mayBeRestarting, mayPass, storeError, whileReplaced } from './store-errors.js';

const LEASE_MS = 60_000;
const STORE_WAIT_MS = 600_000;
const SERVER_VERSION_MIN = 150_000;
const STORE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const READ_RETRY_FIRST_MS = 50;
const FIRST_REPORT_MS = 1000;
/** The writer knows within half a lease that a server does not answer; a slow line may take longer for a page. */
const READ_TIMEOUT_MS = 60_000;

export interface TeamStoreOptions {
  readonly connect: Connect;
  readonly project: string;
  /** The address without its password. */
  readonly shown: string;
  readonly keys: KeySource;
  /** A run counts as given up when its writer has not been heard of for so long. */
  readonly leaseMs?: number;
  /** A run waits so long for a store that was reached before. */
  readonly waitMs?: number;
  /** Lines that the server does not take are kept there until it does. */
  readonly spill?: SpillPlace;
  /** Parts of indexes are kept there, so that not every start fetches them. */
  readonly indexCopies?: IndexFolder;
  /** A user who may not even look is told which role this needs. Absent: looking. */
  readonly purpose?: keyof typeof STATEMENT_FOR | undefined;
  /** For a server that restarts when a run begins; absent where it must be there. */
  readonly firstWait?: FirstWait;
  /** Allows a server that may lose what it has acknowledged. */
  readonly allowUnsafe?: boolean;
  /** Called whenever a run is passed over whose id can't be right. */
  readonly onSkipped?: (run: RunRef) => void;
  /** False: processes tell each other nothing, and only look from time to time. */
  readonly notifies?: boolean;
}

/** A store that can be left: without `close`, its connections end with the process, which they don't keep alive. */
export type TeamStore = JournalStore &
  KeptStore &
  Pushing &
  Limiting &
  Watching &
  Hinting &
  Rebuilding &
  WithWorkers &
  Recording & { close(): Promise<void> };

export interface Rebuilding {
  /** Makes anew what the store derives from its journals. */
  rebuild(options: RebuildOptions): Promise<RebuildOutcome>;
}

export interface WithWorkers {
  readonly workers: TeamWorkers;
}

export interface Hinting {
  readonly hints: Hints;
}

export interface Watching {
  readonly activity: Activity;
}

export interface Limiting {
  readonly budgets: SharedBudgets;
  readonly lanes: LaneLog;
}

export interface Recording {
  /** Opens the connections of a run at once, so that it does not wait for one after the other. */
  openConnections(): void;
}

export interface Pushing {
  /**
   * Brings in what processes that are gone have left here while the store could not be reached, and says of each run what became of it.
   * Rejects with STORE_UNREACHABLE.
   */
  pushSpills(): Promise<readonly PushedSpill[]>;
  /** Returns the paths of what was set aside here of these runs, because it can't be brought in. */
  damagedSpillsOf(runs: readonly RunRef[]): Promise<readonly string[]>;
}

export function openTeamStore(options: TeamStoreOptions): TeamStore {
  const { project, keys, leaseMs = LEASE_MS, waitMs = STORE_WAIT_MS } = options;
  const server = new ServerCheck(options.allowUnsafe === true);
  const connections: Connection[] = [];
  const connection = (limits?: Limits, prepare?: (client: SqlClient) => Promise<void>): Connection => {
    const first = options.purpose && STATEMENT_FOR[options.purpose];
    const expected = (error: unknown): never => {
      throw server.wasReached ? whileReplaced(error, options.shown) : storeError(error, options.shown, first);
    };
    const check = async (client: SqlClient): Promise<void> => {
      await server.check(client).catch(expected);
      await prepare?.(client);
    };
    const made = new Connection((onLost) => options.connect(onLost).catch(expected), check, options.shown, limits);
    connections.push(made);
    return made;
  };
  const readsAndBudgets = connection();
  const reader = patient((...statement) => readsAndBudgets.read(...statement), server, waitMs, options.firstWait);
  const side = connection({ statementMs: READ_TIMEOUT_MS }, (client) => hints.attach(client));
  const hints = new PgHints({ sql: side, project, isOn: options.notifies !== false, timeoutMs: Math.max(1000, leaseMs / 2) });
  const patiently = (sql: Sql): Sql => patient((...statement) => sql.query(...statement), server, waitMs, options.firstWait);
  const budgets = new PgBudgets({ sql: readsAndBudgets, patiently, lost: (run) => store.lost(run), project, leaseMs });
  const bulk = connection({ briefMs: Math.max(1000, leaseMs / 2) });
  const writer = connection();
  const store = new PgStore({
    writer,
    reader,
    side,
    bulk,
    project,
    leaseMs,
    waitMs,
    nowMs: () => server.nowMs(),
    onSkipped: options.onSkipped,
    storeId: () => server.id,
    spill: options.spill,
    indexCopies: options.indexCopies,
    hints,
  });
  const workers = new PgWorkers({
    sql: side,
    project,
    timeoutMs: Math.max(1000, leaseMs / 2),
    leaseMs,
    waitMs,
    hints,
    begin: (of, worker, wanted) => store.serve(of, worker, wanted),
  });
  return Object.assign(withPayloads(store, openKeyring(keys)), {
    budgets,
    lanes: new PgLanes({ sql: side, project }),
    activity: new PgActivity({ sql: reader, project }),
    hints,
    workers,
    keeper: () => store.keeper(),
    seal: (ref: RunRef) => store.seal(ref),
    pushSpills: () => store.pushSpills(),
    damagedSpillsOf: (runs: readonly RunRef[]) => store.damagedSpillsOf(runs),
    openConnections() {
      writer.open();
      side.open();
    },
    async rebuild(wanted: RebuildOptions) {
      const { rebuildIndex } = await import('./rebuild/rebuild-index.js');
      return rebuildIndex(bulk, project, wanted);
    },
    async close() {
      budgets.leave();
      hints.leave();
      store.leave();
      await Promise.all(connections.map((each) => each.close()));
    },
  });
}

/** Says how long a process waits for a server that it has not reached yet. */
export interface FirstWait {
  readonly waitMs: number;
  /** Called when that takes longer than a moment. */
  readonly onWait: (error: JournalError, waitMs: number) => void;
}

/** Waits for a server that was there before and will be again. What it is asked may be asked twice. */
function patient(send: Sql['query'], server: ServerCheck, waitMs: number, first: FirstWait | undefined): Sql {
  return {
    async query(text, values) {
      const beganMs = performance.now();
      let isReported = false;
      for (let delayMs = READ_RETRY_FIRST_MS; ; delayMs = Math.min(2 * delayMs, 1000)) {
        try {
          return await send(text, values, READ_TIMEOUT_MS);
        } catch (error) {
          if (!(error instanceof JournalError) || !mayPass(error)) throw error;
          const isFirst = !server.wasReached;
          const allowedMs = !isFirst ? waitMs : first !== undefined && mayBeRestarting(error) ? Math.min(first.waitMs, waitMs) : 0;
          const waitedMs = performance.now() - beganMs;
          if (waitedMs + delayMs > allowedMs) throw error;
          if (isFirst && !isReported && waitedMs > FIRST_REPORT_MS) {
            isReported = true;
            first?.onWait(error, allowedMs);
          }
          await sleep(delayMs);
        }
      }
    },
  };
}

/** Knows the server that all connections of a store lead to. */
class ServerCheck {
  private storeId: string | undefined;
  private aheadMs = 0;

  constructor(private readonly allowUnsafe: boolean) {}

  /** Undefined until the server was reached. */
  get id(): string | undefined {
    return this.storeId;
  }

  get wasReached(): boolean {
    return this.storeId !== undefined;
  }

  /** The time of the server, whatever the clock of this machine says. */
  nowMs(): number {
    return Date.now() + this.aheadMs;
  }

  /** Throws STORE_NEWER, STORE_MIGRATE, STORE_UNFIT, STORE_WENT_BACK. */
  async check(sql: Sql): Promise<void> {
    const askedMs = Date.now();
    const [row] = await sql.query(
      `select m.store_id::text as "storeId", m.version, m.min_client as "minClient", ${SETTINGS},
         set_config('default_transaction_isolation'::text, 'read committed'::text, false), ${KEEP_MEMORY} from mlld.meta m`,
      [],
      READ_TIMEOUT_MS,
    );
    if (row === undefined) throw migrationNeeded();
    if (Number(row['minClient']) > SCHEMA_VERSION) throw newer(Number(row['version']));
    if (Number(row['version']) < SCHEMA_VERSION)
      throw this.wasReached ? wentBack('it has the tables of an older version') : migrationNeeded();
    refuseUnfit(row, this.allowUnsafe);
    const storeId = String(row['storeId']);
    // A folder of spills is named after it, and a server that a cloned configuration names may say anything.
    if (!STORE_ID.test(storeId))
      throw unfit('has an id that is no UUID', 'somebody has changed the table mlld.meta: ask who runs the server');
    if (this.storeId !== undefined && this.storeId !== storeId) throw wentBack('another store answers at its address');
    this.storeId = storeId;
    this.aheadMs = Number(row['nowMs']) - (askedMs + Date.now()) / 2; // it read its clock some time between the two
  }
}

function wentBack(why: string): JournalError {
  return new JournalError('STORE_WENT_BACK', `the store is not what it was: ${why}`, {
    hint: 'the database was replaced while this process used it; ask who runs it, then run again',
  });
}

/**
 * Functions and operators of the schema `public` would be called in the place of the server's own where their types fit better, with the
 * rights of whoever looks: statements name all that is ours with its schema, and everything else is the server's. This statement itself
 * uses only what no other one fits better.
 */
const SETTINGS = `set_config('search_path'::text, 'pg_catalog, pg_temp'::text, false),
  current_setting('server_version_num'::text)::int as server, current_setting('server_encoding'::text) as encoding,
  current_setting('fsync'::text) as fsync, (extract(epoch from clock_timestamp()) * 1000::numeric)::float8 as "nowMs"`;

/**
 * A process of the server that has freed a piece of memory of this size keeps as much of what later statements free. Otherwise, where it
 * has little by chance, its C library returns the memory of each append to the system and asks for it again: forty pages for twenty
 * results of 7 KB.
 */
const KEEP_MEMORY = `octet_length(repeat(repeat(' '::text, 1024), 160))`;

/** Throws STORE_UNFIT for a server that is too old, or could lose or change what it holds. */
export async function refuseUnfitServer(sql: Sql, allowUnsafe: boolean): Promise<void> {
  const [row] = await sql.query(`select ${SETTINGS}`);
  if (row !== undefined) refuseUnfit(row, allowUnsafe);
}

function refuseUnfit(row: Row, allowUnsafe: boolean): void {
  if (Number(row['server']) < SERVER_VERSION_MIN) throw unfit('is older than PostgreSQL 15', 'use PostgreSQL 15 or newer');
  if (row['encoding'] !== 'UTF8') throw unfit(`keeps texts in ${String(row['encoding'])}`, "create the database with encoding 'UTF8'");
  if (row['fsync'] !== 'on' && !allowUnsafe) {
    throw unfit('runs with fsync off: a crash loses what it has acknowledged', 'MLLD_STORE_UNSAFE=1 uses it nevertheless');
  }
}

function unfit(what: string, hint: string): JournalError {
  return new JournalError('STORE_UNFIT', `the store's server ${what}`, { hint });
}

function migrationNeeded(): JournalError {
  return new JournalError('STORE_MIGRATE', 'the store does not have the tables of this version', {
    hint: 'run mlld store migrate as the owner of the schema',
  });
}
