/**
 * Changes and removes what a project has in the database.
 *
 * PG-KEEPER-1 A run is sealed before it is changed: its fence is raised, so that a writer whose lease had run out appends nothing more.
 * PG-KEEPER-2 A run is rewritten, and a run is added, in one transaction: a kill leaves it as it was, or as it is to be.
 * PG-KEEPER-3 A blob goes with all its parts in one transaction, and only when no run names it and nobody has stored it since the oldest
 *    run began that may still name one. A run stores a blob before it names it, and storing renews the time of a blob that is there.
 * PG-KEEPER-4 A changed line keeps its hash (CODEC-3), and its number; the lines behind it move to the offsets that they have in the
 *    equivalent file.
 */
import { randomUUID } from 'node:crypto';
import { CHAIN_SEED, encodeTombstone } from '../codec.js';
import type { JournalEvent, Redacted } from '../event.js';
import type { BlobId, RunRef } from '../ids.js';
import { NEWLINE } from '../lines/line-buffer.js';
import { isUnknown } from '../storage/runs/reopen-run.js';
import { otherRunThere, wholeLines, type Bundle, type BundledRun, type StoredRun } from '../upkeep/bundle.js';
import type { StoredFile } from '../upkeep/delete-runs.js';
import type { Keeper, NamedBlobs } from '../upkeep/keeper.js';
import type { Edit } from '../upkeep/rewrite.js';
import type { Position, ScanOptions } from '../store.js';
import type { Row, Sql, Transactions } from './connection.js';
import type { PgStore } from './pg-store.js';
import { bytesOf, piecesOf, rawLines, writeChanged, type ChangedLines } from './raw-lines.js';
import { digestsIn, hashOfLine, NO_LINES, startsOf, TURN_BYTES_MAX, TURN_LINES_MAX } from './lines.js';
import { eventOf } from './read-rows.js';
import { appendTurn } from './run-rows.js';

/** Blobs that one transaction removes. */
const REMOVED_BLOBS_MAX = 500;

interface Taken {
  /** A bigint, as text. */
  readonly id: string;
  readonly fence: number;
}

export interface PgKeeperPorts {
  readonly sql: Transactions;
  readonly project: string;
  readonly store: Pick<PgStore, 'scan' | 'deleteRun' | 'putBlob' | 'whyNotFree'>;
}

const OF_RUN = `from mlld.workflows w join mlld.projects p using (project_id)
  where p.name = $1 and w.path = $2 and r.workflow_id = w.workflow_id and r.run = $3`;

export class PgKeeper implements Keeper {
  readonly blobs: NamedBlobs;

  constructor(private readonly ports: PgKeeperPorts) {
    this.blobs = { removeUnused: (options) => this.removeUnused(options) };
  }

  /** PG-KEEPER-1, for all runs that are neither finished nor alive. */
  async recover(): Promise<void> {
    await this.ports.sql.query(
      `update mlld.runs r set fence = r.fence + 1, lease_until = '-infinity'
       from mlld.workflows w join mlld.projects p using (project_id)
       where p.name = $1 and r.workflow_id = w.workflow_id and not r.finished and r.lease_until > '-infinity'
         and not mlld.is_alive(r.lease_until, r.lease_s)`,
      [this.ports.project],
    );
  }

  async deleteUnfinished(): Promise<void> {} // a transaction is whole or absent

  deleteRun(ref: RunRef): Promise<void> {
    return this.ports.store.deleteRun(ref);
  }

  /** PG-KEEPER-2, PG-KEEPER-4 */
  async rewriteRun(ref: RunRef, edit: Edit, because: Redacted, options?: Pick<ScanOptions, 'onDefect'>): Promise<number> {
    const { id, fence } = await this.take(ref);
    const { changed, digests } = await this.changesOf(ref, id, edit, because, options);
    if (changed.size === 0) return 0;
    await this.ports.sql.transaction(async (sql) => {
      const grown = await writeChanged(sql, id, changed);
      const head = await sql.query(
        'update mlld.runs set bytes = bytes + $3, rewritten = rewritten + 1 where run_id = $1 and fence = $2 returning 1',
        [id, fence, grown],
      );
      if (head.length === 0) throw await this.ports.store.whyNotFree(ref, 'change'); // taken by another process meanwhile
      await sql.query('delete from mlld.blob_uses where run_id = $1 and digest <> all ($2::text[])', [id, [...digests]]);
      await sql.query('delete from mlld.offers where run_id = $1', [id]); // they have arguments in them
      await sql.query('delete from mlld.answers where run_id = $1', [id]);
      await sql.query('select mlld.index_results($1)', [id]);
      for (const table of ['lane_events', 'limits']) await sql.query(forgetLanes(table), [id]); // the name of a lane may hold an argument
      await sql.query(`delete from mlld.asides a using mlld.runs r where r.run_id = $1 and a.workflow_id = r.workflow_id`, [id]);
    });
    return changed.size;
  }

  async lines(ref: RunRef): Promise<Uint8Array> {
    return bytesOf(this.ports.sql, await this.idOf(ref));
  }

  async editedLines(ref: RunRef, edit: Edit, because: Redacted): Promise<Uint8Array> {
    const id = await this.idOf(ref);
    const { changed } = await this.changesOf(ref, id, edit, because);
    return bytesOf(this.ports.sql, id, changed);
  }

  async storeBundle({ runs, blobs }: Bundle): Promise<readonly StoredRun[]> {
    const stored: StoredRun[] = [];
    for (const run of runs) stored.push({ ref: run.ref, did: await this.compareStored(run) });
    for (const content of blobs.values()) await this.ports.store.putBlob(content);
    for (const [n, run] of runs.entries()) if (stored[n]?.did === 'stored') await this.add(run);
    return stored;
  }

  /** A vacuum takes what was removed out of the pages of the tables. The log and the archives of the server are its operator's. */
  async purge(): Promise<string | undefined> {
    const vacuums = ['events', 'blob_parts', 'asides', 'offers', 'limits', 'lane_events'].map((table) => `vacuum mlld.${table}`);
    const [table] = await this.ports.sql.query(
      `select pg_catalog.pg_has_role(relowner, 'usage') as owns from pg_catalog.pg_class where oid = 'mlld.events'::regclass`,
    );
    if (table?.['owns'] !== true) return `${vacuums.join('; ')};`; // the server would only warn, and do nothing
    for (const vacuum of vacuums) await this.ports.sql.query(vacuum);
    return undefined;
  }

  /** Raises the fence of a run that nobody writes. */
  private async take({ workflow, run }: RunRef): Promise<Taken> {
    const [taken] = await this.ports.sql.query(
      `update mlld.runs r set fence = r.fence + 1, lease_until = '-infinity' ${OF_RUN}
         and (r.finished or not mlld.is_alive(r.lease_until, r.lease_s)) returning r.run_id::text as id, r.fence`,
      [this.ports.project, workflow, run],
    );
    if (taken === undefined) throw await this.ports.store.whyNotFree({ workflow, run }, 'change');
    return { id: String(taken['id']), fence: Number(taken['fence']) };
  }

  private async idOf(ref: RunRef): Promise<string> {
    const id = await this.idOrNothing(ref);
    if (id === undefined) throw isUnknown(ref);
    return id;
  }

  private async idOrNothing({ workflow, run }: RunRef, sql: Sql = this.ports.sql): Promise<string | undefined> {
    const [found] = await sql.query(
      `select r.run_id::text as id from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
       where p.name = $1 and w.path = $2 and r.run = $3`,
      [this.ports.project, workflow, run],
    );
    return found === undefined ? undefined : String(found['id']);
  }

  /** Returns the lines that an edit changes, and what all lines name afterwards. */
  private async changesOf(
    ref: RunRef,
    id: string,
    edit: Edit,
    because: Redacted,
    options?: ScanOptions,
  ): Promise<{ readonly changed: ChangedLines; readonly digests: ReadonlySet<string> }> {
    const edited = new Map<number, JournalEvent>();
    const visit = (event: JournalEvent, { offset }: Position): void => {
      const made = edit(event);
      if (made !== undefined) edited.set(offset, made);
    };
    await this.ports.store.scan(ref, visit, options);
    const changed = new Map<number, string>();
    const digests = new Set<string>();
    let hash = CHAIN_SEED;
    for await (const { at, line } of rawLines(this.ports.sql, id)) {
      const event = edited.get(at);
      const now = event === undefined ? line : encodeTombstone({ ...event, redacted: because }, hash).text.trimEnd();
      if (event !== undefined) changed.set(at, now);
      for (const digest of digestsIn(now)) digests.add(digest);
      hash = hashOfLine(line);
    }
    return { changed, digests };
  }

  private async compareStored({ ref, lines }: BundledRun): Promise<StoredRun['did']> {
    const id = await this.idOrNothing(ref);
    if (id === undefined) return 'stored';
    if ((await bytesOf(this.ports.sql, id)).equals(wholeLines(lines))) return 'there';
    throw otherRunThere(ref);
  }

  /** PG-KEEPER-2. The run has no writer: its lease is one that ran out. */
  private async add({ ref, lines }: BundledRun): Promise<void> {
    await this.ports.sql.transaction(async (sql) => {
      const made = await this.beginAdded(sql, ref, firstEventIn(lines));
      if (typeof made?.['id'] !== 'string') throw otherRunThere(ref); // made by another process meanwhile
      const row = { id: made['id'], fence: 0 };
      let head = NO_LINES;
      for (const piece of piecesOf(wholeLines(lines), { bytes: TURN_BYTES_MAX, count: TURN_LINES_MAX })) {
        const ats: number[] = [];
        startsOf(piece, head.offset, ats);
        head = await appendTurn(sql, row, { head, lines: piece, ats });
      }
      await sql.query('select mlld.index_results($1)', [row.id]);
      await sql.query(`update mlld.runs set lease_until = '-infinity' where run_id = $1`, [row.id]);
    });
  }

  /** A run that served another one serves it here too, where that is there already. */
  private async beginAdded(sql: Sql, { workflow, run }: RunRef, first: JournalEvent | undefined): Promise<Row | undefined> {
    const { project } = this.ports;
    const about = [project, workflow, run, randomUUID()];
    const { worker, salvages, versions, host = '' } = first?.type === 'run.started' ? first : {};
    const served = worker?.for ?? salvages;
    const ofRun = served && (await this.idOrNothing({ workflow, run: served }, sql));
    const values = [...about, host, ofRun ?? null];
    const facts = worker && JSON.stringify({ name: worker.name, version: versions?.mlld, lanes: worker.lanes });
    const [made] = await (facts === undefined
      ? sql.query(`select mlld.begin_run($1, $2, $3, $4, 60, $5, 0, '', $6)::text as id`, values)
      : sql.query(`select mlld.begin_worker($1, $2, $3, $4, 60, $5, 0, '', $6, $7)::text as id`, [...values, facts]));
    return made;
  }

  /** PG-KEEPER-3. A run that may still name what it has stored is alive, or nobody has made sure that it is not (`recover`). */
  private async removeUnused({ going, dryRun }: { readonly going: readonly RunRef[]; readonly dryRun: boolean }): Promise<StoredFile[]> {
    const { sql, project } = this.ports;
    const before = `select least(clock_timestamp(), min(r.created_at)) from mlld.runs r join mlld.workflows w using (workflow_id)
      where w.project_id = p.project_id and not r.finished and ${dryRun ? 'mlld.is_alive(r.lease_until, r.lease_s)' : `r.lease_until > '-infinity'`}`;
    const unused = await sql.query(
      `select b.digest, b.bytes::float8 as bytes, (${before})::text as before
       from mlld.blobs b join mlld.projects p using (project_id)
       where p.name = $1 and b.touched_at < (${before})
         and not exists (select from mlld.blob_uses u join mlld.runs r using (run_id) join mlld.workflows w using (workflow_id)
           where u.project_id = b.project_id and u.digest = b.digest and (w.path, r.run) not in (select * from unnest($2::text[], $3::text[])))
       order by b.digest`,
      [project, going.map(({ workflow }) => workflow), going.map(({ run }) => run)],
    );
    const found = unused.map(({ digest, bytes }) => ({ blob: digest as BlobId, bytes: Number(bytes) }));
    if (dryRun) return found;
    const removed = new Set<unknown>();
    for (let from = 0; from < found.length; from += REMOVED_BLOBS_MAX) {
      const digests = found.slice(from, from + REMOVED_BLOBS_MAX).map(({ blob }) => blob);
      for (const { digest } of await sql.query(REMOVE, [project, digests, unused[0]?.['before']])) removed.add(digest);
    }
    return found.filter(({ blob }) => removed.has(blob));
  }
}

const forgetLanes = (table: string): string =>
  `delete from mlld.${table} t using mlld.runs r join mlld.workflows w using (workflow_id) where r.run_id = $1 and t.project_id = w.project_id`;

const REMOVE = `with gone as (
    delete from mlld.blobs b using mlld.projects p
    where p.name = $1 and b.project_id = p.project_id and b.digest = any ($2::text[]) and b.touched_at < $3::timestamptz
      and not exists (select from mlld.blob_uses u where u.project_id = b.project_id and u.digest = b.digest)
    returning b.project_id, b.digest),
  parts as (delete from mlld.blob_parts t using gone g where t.project_id = g.project_id and t.digest = g.digest)
  select digest from gone`;

/** Undefined where it is damaged. */
function firstEventIn(lines: Uint8Array): JournalEvent | undefined {
  const bytes = wholeLines(lines).indexOf(NEWLINE);
  return eventOf({ line: Buffer.from(lines.buffer, lines.byteOffset, bytes).toString() }, { bytes });
}
