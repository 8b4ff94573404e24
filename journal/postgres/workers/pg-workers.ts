/** Lets a worker take and answer the offers of all runs of a project, in the database. team-store.md 7.1. */
import { seqOf, type CallKey, type RunId, type Workflow } from '../../ids.js';
import { OFFERS, type HintWatch, type Hints } from '../../storage/hints.js';
import type { FirstOffer, Holders, OfferingRun, ServedRun, TakenOffer, Taking, TeamWorkers, WorkerFacts } from '../../storage/workers.js';
import type { CreateOptions } from '../../store.js';
import type { Row, Sql } from '../connection.js';
import type { PgServedRun, TakingRow } from './served-run.js';
import { WorkerPresence } from './waiting-workers.js';

export interface WorkersPorts {
  readonly sql: Sql;
  readonly project: string;
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly hints: Hints;
  readonly begin: (of: OfferingRun, worker: WorkerFacts, options: CreateOptions) => Promise<PgServedRun>;
}

export class PgWorkers implements TeamWorkers {
  private readonly rows = new WeakMap<ServedRun, PgServedRun>();

  private readonly presence: WorkerPresence;

  constructor(private readonly ports: WorkersPorts) {
    this.presence = new WorkerPresence(ports);
  }

  get waitMs(): number {
    return this.ports.waitMs;
  }

  present(worker: WorkerFacts): Promise<void> {
    return this.presence.renew(worker);
  }

  leave(): Promise<void> {
    return this.presence.end();
  }

  async take(worker: string, slots: { readonly [lane: string]: number }, served: Iterable<ServedRun>): Promise<Taking> {
    const mine: { [of: string]: TakingRow } = {};
    const taking = new Map<string, (taken: TakenOffer) => void>();
    for (const each of served) {
      const own = this.rows.get(each);
      const row = own?.row();
      if (own === undefined || row === undefined) continue;
      mine[each.of.id] = row;
      taking.set(each.of.id, own.taking());
    }
    const { sql, project, timeoutMs } = this.ports;
    const found = await sql.query(
      'select * from mlld.take_offers($1, $2, $3, $4)',
      [project, worker, JSON.stringify(slots), JSON.stringify(mine)],
      timeoutMs,
    );
    const inState = (state: string): readonly Row[] => found.filter((row) => row['state'] === state);
    const taken = inState('claimed').map(takenIn);
    for (const offer of taken) taking.get(offer.of.id)?.(offer);
    return { taken, unserved: offeringRuns(inState('new')), sealed: offeringRuns(inState('sealed')) };
  }

  async serve(of: OfferingRun, worker: WorkerFacts, options: CreateOptions): Promise<ServedRun> {
    const served = await this.ports.begin(of, worker, options);
    this.rows.set(served, served);
    return served;
  }

  async decline({ id }: Pick<TakenOffer, 'id'>, worker: string, why: string, stop = false): Promise<void> {
    const { sql, timeoutMs } = this.ports;
    const said = JSON.stringify({ [worker]: { why, ...(stop && { stop }) } });
    await sql.query(`update mlld.offers set declined = coalesce(declined, '{}') || $2::jsonb where offer_id = $1`, [id, said], timeoutMs);
  }

  async living(runs: readonly OfferingRun[]): Promise<ReadonlySet<string>> {
    const { sql, timeoutMs } = this.ports;
    const found = await sql.query(
      `select run_id::text as id from mlld.runs
       where run_id = any ($1::bigint[]) and not finished and mlld.is_alive(lease_until, lease_s)`,
      [runs.map(({ id }) => id)],
      timeoutMs,
    );
    return new Set(found.map((row) => String(row['id'])));
  }

  async holders(worker: string, lanes: readonly string[]): Promise<Holders> {
    const { sql, project, timeoutMs } = this.ports;
    const found = await sql.query(
      `select distinct cr.run_id::text as id, cr.lease_until::text as until
       from mlld.projects p join mlld.workflows w using (project_id) join mlld.runs r using (workflow_id) join mlld.offers o using (run_id)
         join mlld.claims c on c.workflow_id = o.workflow_id and c.key = o.key join mlld.runs cr on cr.run_id = c.run_id
       where p.name = $1 and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
         and o.ended_seq is null and o.lane = any ($3::text[]) and (o.declined is null or not o.declined ? $2)`,
      [project, worker, lanes],
      timeoutMs,
    );
    return new Map(found.map((row) => [String(row['id']), String(row['until'])]));
  }

  watch(): HintWatch {
    return this.ports.hints.watch(OFFERS);
  }
}

function takenIn(row: Row): TakenOffer {
  return {
    id: String(row['offer']),
    key: row['key'] as CallKey,
    lane: String(row['lane']),
    call: String(row['call']),
    of: offeringRun(row),
    refused: row['run'] === null ? undefined : { run: row['run'] as RunId, seq: seqOf(Number(row['seq'])) },
  };
}

function offeringRun(row: Row): OfferingRun {
  return { id: String(row['of_run']), ref: { workflow: row['path'] as Workflow, run: row['of_name'] as RunId } };
}

function offeringRuns(rows: readonly Row[]): Taking['unserved'] {
  const firstOf = (row: Row): FirstOffer => ({ id: String(row['offer']), call: String(row['call']) });
  return [...new Map(rows.map((row) => [row['of_run'], { ...offeringRun(row), first: firstOf(row) }])).values()];
}
