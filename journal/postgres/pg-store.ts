/** Keeps the runs of a project in a PostgreSQL database: creates, lists and reads them. team-store.md 3 to 5. */
import { randomInt, randomUUID } from 'node:crypto';
import { JournalError } from '../errors.js';
import type { JournalEvent } from '../event.js';
import { runIdAt, seqOf, startOf, type BlobId, type RunId, type RunRef, type Workflow } from '../ids.js';
import type { BlobWriter, StoredBlob } from '../storage/blob-writer.js';
import type { IndexFolder } from '../storage/index-files.js';
import { OFFERS, type Hints } from '../storage/hints.js';
import type { OfferingRun, WorkerFacts } from '../storage/workers.js';
import { hasEnded, inUse, isUnknown } from '../storage/runs/reopen-run.js';
import type { Keeper } from '../upkeep/keeper.js';
import type { CreateOptions, IndexFiles, Journal, Position, RunFile, RunStore, ScanOptions, ScanReport } from '../store.js';
import type { Visit } from '../reader.js';
import { RunWriter } from '../writer.js';
import { beginAgain, beginRunRow, type Beginning } from './begin-run.js';
import { getBlobRows, newBlobRows, putBlobRows, type BlobPorts } from './blob-rows.js';
import { ClaimRows, RunClaims } from './claims/claim-rows.js';
import { momentNow, OwnLease } from './claims/own-lease.js';
import type { Refusals } from './claims/results-in-lines.js';
import type { Sql, Transactions } from './connection.js';
import { openIndexParts } from './derived/index-parts.js';
import { readDerivedRow, replaceDerivedRow, writeDerivedRow } from './derived/derived-rows.js';
import { Heartbeat } from './heartbeat.js';
import type { Head } from './lines.js';
import { ReadAhead } from './read-ahead.js';
import { findRun, firstRows, listRows, scanRows } from './read-rows.js';
import { RunRows, type RunRow } from './run-rows.js';
import { SalvageRun } from './salvage/salvage-run.js';
import type { PushedSpill } from './spill/push-spills.js';
import { damagedSpillsOf, hasSpills, SpillFile, type SpillPlace } from './spill/spill-file.js';
import { SpillingRows } from './spill/spilling-rows.js';
import { mayPass } from './store-errors.js';
import { TeamJournal } from './team-journal.js';
import { leaseWorkflow } from './workflow-lease.js';
import { describeProcess } from './writer-process.js';
import { RunOffers } from './workers/run-offers.js';
import { servedRun, type PgServedRun } from './workers/served-run.js';

/** A statement that removes events takes so many at once. */
const REMOVED_EVENTS_MAX = 10_000;

export interface PgStorePorts {
  /** Each is a connection of its own: lines, reading, leases and blobs, what takes a transaction of several statements. */
  readonly writer: Sql;
  /** For statements that only read. CONNECTION-1 */
  readonly reader: Sql;
  readonly side: Sql;
  readonly bulk: Transactions;
  readonly project: string;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly nowMs: () => number;
  readonly onSkipped: ((run: RunRef) => void) | undefined;
  /** Undefined until the server was reached. */
  readonly storeId: () => string | undefined;
  /** Undefined where lines wait in memory for a server that is away. */
  readonly spill: SpillPlace | undefined;
  /** Undefined where no copies of parts of an index are kept. */
  readonly indexCopies: IndexFolder | undefined;
  readonly hints: Hints;
}

const RUN_OF = `from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
  where p.name = $1 and w.path = $2 and r.run = $3`;
const OF_RUN = `from mlld.workflows w join mlld.projects p using (project_id)
  where p.name = $1 and w.path = $2 and r.workflow_id = w.workflow_id and r.run = $3`;

export class PgStore implements RunStore {
  private readonly blobs: BlobPorts;
  private readonly heartbeat: Heartbeat;
  private readonly results: ReadAhead;
  private readonly claiming: ClaimRows;
  /** The runs that this process writes. */
  private readonly journals = new Map<RunRows, TeamJournal>();
  readonly indexFiles: IndexFiles;

  constructor(private readonly ports: PgStorePorts) {
    const { side, project, leaseMs } = ports;
    this.indexFiles = openIndexParts({ reader: ports.reader, side, project, copies: ports.indexCopies });
    this.heartbeat = new Heartbeat(side, leaseMs, project, {
      onRefused: (error) => {
        for (const { claims } of this.journals.values()) claims.refuse(error);
      },
      onMissed: (row) => {
        for (const [rows, journal] of this.journals) if (rows.row === row) journal.checkOwner();
      },
    });
    this.results = new ReadAhead(ports.reader, project);
    this.claiming = new ClaimRows(side, this.timeoutMs);
    this.blobs = { sql: side, project, inTransaction: (work) => ports.bulk.transaction(work), timeoutMs: this.timeoutMs };
  }

  /** STORE_WENT_BACK where the store has lost a run that this process writes. */
  async lost(ref: RunRef): Promise<JournalError | undefined> {
    return [...this.journals.keys()].find((rows) => rows.isOf(ref))?.lost();
  }

  /** The clock of the server, which all machines share. */
  async nowMs(): Promise<number> {
    if (this.ports.storeId() === undefined) await this.ports.reader.query('select 1'); // each connection reads it when it is opened
    return this.ports.nowMs();
  }

  async create(ref: RunRef, options: CreateOptions = {}): Promise<Journal> {
    const writer = randomUUID();
    const rows = this.rowsOf(ref, (lease) => this.begin(ref, writer, lease, options));
    const settings = { ...options, waitMs: options.waitMs ?? this.ports.waitMs };
    const sink = this.spillingRows(ref, rows, settings);
    try {
      await (options.continues === undefined ? rows.begin() : beginAgain(() => rows.begin(), settings.waitMs));
    } catch (error) {
      if (!mayPass(error) || settings.waitMs === 0 || options.continues !== undefined) throw error;
      sink.startInOutage();
    }
    return this.journalOf(ref, rows, sink, settings);
  }

  private rowsOf(ref: RunRef, begin: (lease: OwnLease) => Promise<RunRow>, head?: Head): RunRows {
    const { writer: sql, hints, leaseMs } = this.ports;
    const lease = new OwnLease(leaseMs);
    const onEnded = (): void => hints.send(ref.workflow);
    return new RunRows({ ref, sql, timeoutMs: this.timeoutMs, begin: () => begin(lease), lease, onEnded, ...(head && { head }) });
  }

  private spillingRows(ref: RunRef, rows: RunRows, { waitMs = this.ports.waitMs, onOutage }: CreateOptions): SpillingRows {
    const { leaseMs } = this.ports;
    const newSpill = (head: Head): SpillFile | undefined => this.newSpill(ref, rows, head);
    return new SpillingRows({ rows, leaseMs, waitMs, onOutage, newSpill, newSalvage: () => this.salvage(ref) });
  }

  private newSpill(ref: RunRef, { row }: RunRows, head: Head): SpillFile | undefined {
    const { spill, project, storeId } = this.ports;
    const store = storeId();
    if (spill === undefined || row === undefined || store === undefined) return undefined;
    return new SpillFile(spill.disk, spill, { store, project, ref, fence: row.fence, head });
  }

  private journalOf(ref: RunRef, rows: RunRows, sink: SpillingRows, options: CreateOptions, end?: ScanReport['end']): TeamJournal {
    const { onOutage: _reportedBySink, ...settings } = options;
    const writer = new RunWriter(ref, sink, () => this.release(ref, rows), settings, { ...(end && { end }) });
    const { hints } = this.ports;
    const claims = new RunClaims(this.claiming, rows, settings.waitMs ?? this.ports.waitMs, {
      send: () => hints.send(ref.workflow),
      watch: () => hints.watch(ref.workflow),
    });
    const offers = new RunOffers(
      this.ports.side,
      rows,
      this.timeoutMs,
      { send: () => hints.send(OFFERS), watch: () => hints.watch(ref.workflow) },
      ({ run, position }, row) => this.results.hold({ workflow: ref.workflow, run }, position, row),
    );
    const journal = new TeamJournal(writer, sink, claims, settings, offers);
    this.journals.set(rows, journal);
    sink.report(journal);
    return journal;
  }

  /** Keeps what the calls of a sealed run ended with. */
  private salvage(sealed: RunRef): SalvageRun {
    return new SalvageRun(
      {
        scan: (ref, visit) => this.scan(ref, visit),
        runsOf: (ref) => this.salvageRunsOf(ref),
        create: (ref) => this.createSalvage(ref),
      },
      sealed,
    );
  }

  private async createSalvage({ workflow, run }: RunRef): Promise<Journal> {
    const { project, leaseMs, waitMs } = this.ports;
    const [sealed] = await this.ports.reader.query(`select r.run_id::text as id ${RUN_OF}`, [project, workflow, run]);
    if (sealed === undefined) throw isUnknown({ workflow, run });
    const ref = await this.newRef({ workflow, run });
    const rows = this.rowsOf(ref, (lease) => this.begin(ref, randomUUID(), lease, { serves: { of: String(sealed['id']) } }));
    await rows.begin();
    const sink = new SpillingRows({ rows, leaseMs, waitMs, onOutage: undefined });
    return this.journalOf(ref, rows, sink, { waitMs });
  }

  /** Creates the run of a worker that serves another run. team-store.md 7.1. */
  async serve(of: OfferingRun, worker: WorkerFacts, options: CreateOptions): Promise<PgServedRun> {
    const ref = await this.newRef(of.ref);
    const writer = randomUUID();
    const rows = this.rowsOf(ref, (lease) => this.begin(ref, writer, lease, { serves: { of: of.id, worker } }));
    await rows.begin();
    const settings = { ...options, waitMs: options.waitMs ?? this.ports.waitMs };
    const sink = this.spillingRows(ref, rows, settings);
    const journal = this.journalOf(ref, rows, sink, settings);
    return servedRun(of, { journal, rows, sink });
  }

  /** Names a run that serves another one, behind it: `headOf`. Four characters keep ids of one millisecond apart. */
  private async newRef({ workflow, run: served }: RunRef): Promise<RunRef> {
    const digits = randomInt(36 ** 4).toString(36);
    return { workflow, run: runIdAt(Math.max(await this.nowMs(), startOf(served) + 1), digits.padStart(4, '0')) };
  }

  private async salvageRunsOf({ workflow, run }: RunRef): Promise<readonly RunRef[]> {
    const found = await this.ports.reader.query(
      `select s.run from mlld.runs s where s.of_run = (select r.run_id ${RUN_OF}) and s.role = 'salvage' order by s.run`,
      [this.ports.project, workflow, run],
    );
    return found.map((row) => ({ workflow, run: row['run'] as RunId }));
  }

  /** Brings in what processes that are gone have left here while the store could not be reached. Returns what it did, oldest first. */
  async pushSpills(): Promise<readonly PushedSpill[]> {
    const { spill, project } = this.ports;
    if (spill === undefined || !(await hasSpills(spill))) return [];
    const { pushSpills } = await import('./spill/push-spills.js');
    await this.ports.reader.query('select 1');
    return pushSpills({
      place: spill,
      store: this.ports.storeId() ?? '',
      project,
      sql: this.ports.bulk,
      lock: (workflow) => this.acquireWorkflowLock(workflow),
      salvage: (ref) => this.salvage(ref),
      refusals: (ref) => this.refusalsOf(ref),
    });
  }

  async damagedSpillsOf(runs: readonly RunRef[]): Promise<readonly string[]> {
    return this.ports.spill === undefined ? [] : damagedSpillsOf(this.ports.spill, runs);
  }

  private async refusalsOf(ref: RunRef): Promise<Refusals> {
    const refusals: Refusals = new Map();
    await this.scan(ref, (event) => {
      if (event.type === 'call.started' && event.refused !== undefined) refusals.set(event.op, event.refused);
    });
    return refusals;
  }

  private async begin(ref: RunRef, writer: string, lease: OwnLease, beginning: Beginning): Promise<RunRow> {
    const { writer: sql, project, leaseMs } = this.ports;
    const sent = momentNow();
    const id = await beginRunRow({ sql, project, leaseMs, timeoutMs: this.timeoutMs }, ref, writer, beginning);
    const row = { id, fence: 0 };
    lease.acknowledged(sent);
    this.heartbeat.add(row, lease);
    return row;
  }

  /** A lease and claims that can't be given back run out. */
  private async release({ workflow }: RunRef, rows: RunRows): Promise<void> {
    this.journals.delete(rows);
    const { row } = rows;
    if (row === undefined) return;
    this.heartbeat.remove(row);
    if (rows.isReleased) return;
    await rows.release().then(
      () => this.ports.hints.send(workflow),
      () => undefined,
    );
  }

  /** Raises the fence, so that the earlier writer appends nothing more, and continues behind the head. */
  async reopen(ref: RunRef, options: CreateOptions = {}): Promise<Journal> {
    const { project } = this.ports;
    const run = [project, ref.workflow, ref.run];
    await this.pushSpills();
    await this.runs(ref.workflow); // gives back the leases of processes that are gone
    const sent = momentNow();
    const [taken] = await this.ports.writer.query(
      `update mlld.runs r set fence = r.fence + 1, writer = $4, process = $5, lease_until = clock_timestamp() + make_interval(secs => r.lease_s)
       ${OF_RUN} and not r.finished and not mlld.is_alive(r.lease_until, r.lease_s)
       returning r.run_id::text as id, r.fence, r.bytes::float8 as bytes, r.next_seq as seq, r.hash`,
      [...run, randomUUID(), describeProcess()],
    );
    if (taken === undefined) throw await this.whyNotFree(ref, 'continue');
    const row = { id: String(taken['id']), fence: Number(taken['fence']) };
    const head = { offset: Number(taken['bytes']), seq: Number(taken['seq']), hash: String(taken['hash']) };
    const rows = this.rowsOf(ref, async () => row, head);
    rows.lease.acknowledged(sent);
    await rows.begin();
    const { end, defects } = await this.scan(ref, () => undefined);
    if (defects > 0 || end.hash !== head.hash) {
      await this.release(ref, rows);
      throw new JournalError('JOURNAL_RUN_DAMAGED', `run ${ref.run} of ${ref.workflow} can't be continued: lines of it are damaged`, {
        hint: 'begin a new run of the workflow; this one can still be read',
      });
    }
    this.heartbeat.add(row, rows.lease);
    const settings = { ...options, waitMs: options.waitMs ?? this.ports.waitMs };
    return this.journalOf(ref, rows, this.spillingRows(ref, rows, settings), settings, { ...head, seq: seqOf(head.seq - 1) });
  }

  /** Marks the run first, so that a kill in between leaves the beginning of a run that nobody writes. */
  async deleteRun(ref: RunRef): Promise<void> {
    const [taken] = await this.ports.bulk.query(
      `update mlld.runs r set fence = r.fence + 1, lease_until = '-infinity' ${OF_RUN}
         and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s)) returning r.run_id::text as id`,
      [this.ports.project, ref.workflow, ref.run],
    );
    if (taken === undefined) throw await this.whyNotFree(ref, 'change');
    const chunk = `delete from mlld.events where run_id = $1 and at in
      (select at from mlld.events where run_id = $1 order by at desc limit ${REMOVED_EVENTS_MAX}) returning 1`;
    while ((await this.ports.bulk.query(chunk, [taken['id']])).length > 0);
    await this.ports.bulk.query('delete from mlld.runs where run_id = $1', [taken['id']]);
  }

  /** Says why a run can't be continued, sealed, or changed. */
  async whyNotFree(ref: RunRef, doing: 'continue' | 'seal' | 'change'): Promise<JournalError> {
    const file = (await this.runs(ref.workflow)).find((candidate) => candidate.ref.run === ref.run);
    if (file === undefined) return isUnknown(ref);
    return file.liveness === 'finished' && doing !== 'change' ? hasEnded(ref, doing) : inUse(ref);
  }

  acquireWorkflowLock(workflow: Workflow): Promise<() => Promise<void>> {
    const { side, project, leaseMs } = this.ports;
    return leaseWorkflow({ sql: side, project, leaseMs }, workflow);
  }

  async workflows(): Promise<readonly Workflow[]> {
    const rows = await this.ports.reader.query(
      `select w.path from mlld.workflows w join mlld.projects p using (project_id)
       where p.name = $1 and exists (select from mlld.runs r where r.workflow_id = w.workflow_id) order by w.path collate "C"`,
      [this.ports.project],
    );
    return rows.map(({ path }) => path as Workflow);
  }

  runs(workflow: Workflow): Promise<readonly RunFile[]> {
    return listRows(this.ports, workflow);
  }

  firstEvents(workflow: Workflow, runs: readonly RunId[]): Promise<ReadonlyMap<RunId, JournalEvent>> {
    return firstRows(this.ports.reader, this.ports.project, workflow, runs);
  }

  find(run: RunId): Promise<RunRef | undefined> {
    return findRun(this.ports, run);
  }

  scan(ref: RunRef, visit: Visit, options?: ScanOptions): Promise<ScanReport> {
    return scanRows(this.ports.reader, this.ports.project, ref, visit, options);
  }

  readAt(ref: RunRef, position: Position): Promise<JournalEvent | undefined> {
    return this.results.readAt(ref, position);
  }

  putBlob(content: string | Uint8Array): Promise<StoredBlob> {
    return putBlobRows(this.blobs, content);
  }

  /** Parts that blobs have in common are stored with each of them: docs/decisions/0050-a-store-for-a-team.md. */
  packBlob(content: string): Promise<StoredBlob> {
    return this.putBlob(content);
  }

  newBlob(): BlobWriter {
    return newBlobRows(this.blobs);
  }

  getBlob(id: BlobId): Promise<Uint8Array | undefined> {
    return getBlobRows({ ...this.blobs, sql: this.ports.reader }, id);
  }

  readDerived(workflow: Workflow, name: string): Promise<Uint8Array | undefined> {
    return readDerivedRow(this.ports.reader, [this.ports.project, workflow, name]);
  }

  writeDerived(workflow: Workflow, name: string, content: string | Uint8Array): Promise<void> {
    return writeDerivedRow(this.ports.side, [this.ports.project, workflow, name], content);
  }

  replaceDerived(workflow: Workflow, name: string, content: string | Uint8Array, beginning: string | undefined): Promise<boolean> {
    return replaceDerivedRow(this.ports.side, [this.ports.project, workflow, name], content, beginning);
  }

  async seal(ref: RunRef): Promise<void> {
    const sealed = await this.ports.bulk.query(
      `update mlld.runs r set fence = r.fence + 1, lease_until = '-infinity' ${OF_RUN}
         and not r.finished and not mlld.is_alive(r.lease_until, r.lease_s) returning 1`,
      [this.ports.project, ref.workflow, ref.run],
    );
    if (sealed.length === 0) throw await this.whyNotFree(ref, 'seal');
  }

  async keeper(): Promise<Keeper> {
    const { PgKeeper } = await import('./pg-keeper.js');
    const { bulk, project } = this.ports;
    return new PgKeeper({ sql: bulk, project, store: this });
  }

  /** Renews no lease any more. */
  leave(): void {
    this.heartbeat.stop();
  }

  /** A server that does not answer is noticed before the lease has run out. */
  private get timeoutMs(): number {
    return Math.max(1000, this.ports.leaseMs / 2);
  }
}
