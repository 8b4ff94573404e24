/**
 * Looks at what the processes of a project do at this moment, in the database: who writes a run, the calls that each has claimed, the
 * calls that wait for a worker, and who holds the places of shared lanes. team-store.md 14.
 */
import type { RunId, Workflow } from '../../ids.js';
import type { Row, Sql } from '../connection.js';
import { learnedLimitsIn } from '../limits/lane-rows.js';
import { secondsSince } from '../seconds-since.js';
import { damagedRows } from './damaged-rows.js';

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

/** A process with attempts in flight in a shared lane. */
export interface LaneHolder {
  readonly run: RunId;
  readonly workflow: Workflow;
  readonly role: ActiveWriter['role'];
  readonly host: string;
  readonly pid: number;
  readonly attempts: number;
  /** The age of the one that is in flight longest. */
  readonly oldestMs: number;
}

/** A queue of attempts of all processes of the project. */
export interface SharedLane {
  readonly lane: string;
  /** The attempts that may be in flight; null where nothing was learned lately. */
  readonly limit: number | null;
  /** Nothing starts for so long; null where the lane is open. */
  readonly heldMs: number | null;
  /** The process with the most attempts first. */
  readonly holders: readonly LaneHolder[];
}

export interface Activity {
  writers(): Promise<readonly ActiveWriter[]>;
  lanes(): Promise<readonly OfferLane[]>;
  /** Lanes in which an attempt is in flight, and those that are held. */
  sharedLanes(): Promise<readonly SharedLane[]>;
  /** Says in a line each which rows could not be read. */
  damaged(): Promise<readonly string[]>;
}

const MS_SINCE = (time: string): string => `(${secondsSince(time)} * 1000)`;

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

  async sharedLanes(): Promise<readonly SharedLane[]> {
    const rows = await this.ports.sql.query(SHARED_LANES, [this.ports.project]);
    return rows
      .map(({ lane, limits, held, holders }) => ({
        lane: String(lane),
        limit: learnedLimitsIn(limits)?.limit ?? null,
        heldMs: Number(held ?? 0) > 0 ? Number(held) : null,
        holders: holders as readonly LaneHolder[],
      }))
      .filter(({ holders, heldMs }) => holders.length > 0 || heldMs !== null);
  }

  damaged(): Promise<readonly string[]> {
    return damagedRows(this.ports.sql, this.ports.project);
  }
}

/** An attempt is in flight while its start has no end, and its run is alive. */
const SHARED_LANES = `select l.lane, l.limits, (extract(epoch from l.blocked_until - clock_timestamp()) * 1000)::float8 as held,
    coalesce((select jsonb_agg(jsonb_build_object('run', h.run, 'workflow', h.path, 'role', h.role, 'host', h.host, 'pid', h.pid,
        'attempts', h.attempts, 'oldestMs', h.oldest) order by h.attempts desc, h.run collate "C")
      from (select r.run, w.path, r.role, r.host, r.pid, count(*) as attempts, ${MS_SINCE('min(e.at)')} as oldest
        from mlld.lane_events e join mlld.runs r using (run_id) join mlld.workflows w using (workflow_id)
        where e.project_id = l.project_id and e.lane = l.lane and e.event ->> 'kind' = 'start'
          and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
          and not exists (select from mlld.lane_events d where d.project_id = l.project_id and d.lane = l.lane and d.run_id = e.run_id
            and d.event ->> 'kind' = 'end' and d.event -> 'id' = e.event -> 'id')
        group by r.run, w.path, r.role, r.host, r.pid) h), '[]') as holders
  from mlld.limits l join mlld.projects p using (project_id) where p.name = $1 order by l.lane collate "C"`;

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
