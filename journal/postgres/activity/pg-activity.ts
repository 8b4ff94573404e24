/**
 * Looks at what the processes of a project do at this moment, in the database: who writes a run, the calls that each has claimed, and the
 * calls that wait for a worker. team-store.md 14.
 */
import type { RunId, Workflow } from '../../ids.js';
import type { Row, Sql } from '../connection.js';

/** A process that writes a run, or executes calls of one. */
export interface ActiveWriter {
  readonly run: RunId;
  readonly workflow: Workflow;
  readonly role: 'run' | 'worker' | 'salvage';
  /** The run that a worker serves; null for others. */
  readonly ofRun: RunId | null;
  readonly host: string;
  readonly pid: number;
  /** The calls that it executes now. */
  readonly claims: number;
  /** The time since the store heard of it. */
  readonly heardMs: number;
}

/** Calls that were offered to workers. */
export interface OfferLane {
  /** Empty for calls without a lane. */
  readonly lane: string;
  readonly waiting: number;
  /** Those that a process executes. */
  readonly claimed: number;
  /** The age of the one that waits longest; null when none waits. */
  readonly oldestMs: number | null;
}

export interface Activity {
  writers(): Promise<readonly ActiveWriter[]>;
  lanes(): Promise<readonly OfferLane[]>;
}

const MS_SINCE = (time: string): string => `(extract(epoch from clock_timestamp() - ${time}) * 1000)::float8`;

export class PgActivity implements Activity {
  constructor(private readonly ports: { readonly sql: Sql; readonly project: string }) {}

  async writers(): Promise<readonly ActiveWriter[]> {
    const rows = await this.ports.sql.query(
      `select r.run, w.path, r.role, o.run as of_run, r.host, r.pid, ${MS_SINCE('(r.lease_until - make_interval(secs => r.lease_s))')} as heard,
         (select count(*) from mlld.claims c where c.run_id = r.run_id)::int as claims
       from mlld.projects p join mlld.workflows w using (project_id) join mlld.runs r using (workflow_id)
         left join mlld.runs o on o.run_id = r.of_run
       where p.name = $1 and not r.finished and mlld.is_alive(r.lease_until, r.lease_s) order by r.run collate "C"`,
      [this.ports.project],
    );
    return rows.map(writerOf);
  }

  async lanes(): Promise<readonly OfferLane[]> {
    const rows = await this.ports.sql.query(
      `select f.lane, count(*) filter (where c.key is null)::int as waiting, count(c.key)::int as claimed,
         ${MS_SINCE('min(f.offered_at) filter (where c.key is null)')} as oldest
       from mlld.projects p join mlld.workflows w using (project_id) join mlld.offers f using (workflow_id)
         join mlld.runs r on r.run_id = f.run_id and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
         left join mlld.claims c on c.workflow_id = f.workflow_id and c.key = f.key
       where p.name = $1 group by f.lane order by f.lane collate "C"`,
      [this.ports.project],
    );
    return rows.map(({ lane, waiting, claimed, oldest }) => ({
      lane: String(lane),
      waiting: Number(waiting),
      claimed: Number(claimed),
      oldestMs: oldest === null ? null : Number(oldest),
    }));
  }
}

function writerOf({ run, path, role, of_run: ofRun, host, pid, claims, heard }: Row): ActiveWriter {
  return {
    run: run as RunId,
    workflow: path as Workflow,
    role: role as ActiveWriter['role'],
    ofRun: (ofRun ?? null) as RunId | null,
    host: String(host),
    pid: Number(pid),
    claims: Number(claims),
    heardMs: Math.max(0, Number(heard)),
  };
}
