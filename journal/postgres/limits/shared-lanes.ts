/** The lanes that all processes of a project share, in the database. team-store.md 8, LANES-1. */
import type { RunRef } from '../../ids.js';
import type { Sql } from '../connection.js';
import { heardEventIn, learnedLimitsIn } from './lane-rows.js';

/** Says what an attempt of a process did. */
export type LaneEvent =
  | { readonly kind: 'start'; readonly id: number; readonly waited: 'for the gap' | 'otherwise' | 'not' }
  | {
      readonly kind: 'end';
      readonly id: number;
      /** `alone`: it was rejected for what it asks. `other`: its end says nothing about the provider's limits. */
      readonly how: 'accepted' | 'rejected' | 'alone' | 'other';
      readonly retryAfterMs?: number;
    };

export interface HeardEvent {
  readonly run: string;
  /** `gone`: the process of the run is dead, or its run over. */
  readonly event: LaneEvent | { readonly kind: 'gone' };
  readonly agoMs: number;
}

export interface LearnedLimits {
  readonly limit: number;
  readonly ceiling?: number;
  readonly gapMs?: number;
  /** The lane is held for so long from now on. */
  readonly heldMs?: number;
}

export interface LaneRequest {
  readonly run: RunRef;
  readonly lane: string;
  /** The number of the last event that the run has heard. */
  readonly seen: number;
  readonly events: readonly LaneEvent[];
  /** Starts are taken only if the run has heard all events of others. */
  readonly isExact: boolean;
  readonly limits: LearnedLimits | undefined;
  /** Runs that seem to have attempts in flight. */
  readonly others: readonly string[];
}

export interface LaneExchange {
  readonly seen: number;
  readonly isTaken: boolean;
  readonly heard: readonly HeardEvent[];
}

export interface LaneState {
  readonly lane: string;
  readonly seen: number;
  /** Undefined when nothing was learned lately. */
  readonly limits: LearnedLimits | undefined;
  /** Starts of attempts in flight. */
  readonly starts: readonly HeardEvent[];
}

export interface LaneLog {
  exchange(request: LaneRequest): Promise<LaneExchange>;
  /** All lanes of the project. */
  states(): Promise<readonly LaneState[]>;
}

interface PgLanesPorts {
  readonly sql: Sql;
  readonly project: string;
}

/** An attempt waits no longer for the others: its lane goes by what it knows. */
const TIMEOUT_MS = 2000;
/** calls.md 12.9 */
const LEARNED_MAX_S = 3600;

const STATES = `select l.lane, l.n::float8 as seen, extract(epoch from l.blocked_until - clock_timestamp())::float8 * 1000 as "heldMs",
    case when l.updated_at > clock_timestamp() - make_interval(secs => ${LEARNED_MAX_S}) then l.limits end as limits,
    coalesce((select jsonb_agg(jsonb_build_object('run', e.run_id::text, 'event', e.event,
        'agoMs', extract(epoch from clock_timestamp() - e.at) * 1000) order by e.n)
      from mlld.lane_events e join mlld.runs r using (run_id)
      where e.project_id = l.project_id and e.lane = l.lane and e.event ->> 'kind' = 'start'
        and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
        and not exists (select from mlld.lane_events d where d.project_id = l.project_id and d.lane = l.lane and d.run_id = e.run_id
          and d.event ->> 'kind' = 'end' and d.event -> 'id' = e.event -> 'id')), '[]') as starts
  from mlld.limits l join mlld.projects p using (project_id) where p.name = $1`;

export class PgLanes implements LaneLog {
  constructor(private readonly ports: PgLanesPorts) {}

  async exchange({ run, lane, seen, events, isExact, limits, others }: LaneRequest): Promise<LaneExchange> {
    const { sql, project } = this.ports;
    const rows = await sql.query(
      `select n::float8 as n, run, event, ago_ms as "agoMs" from mlld.exchange($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [project, run.workflow, run.run, lane, seen, JSON.stringify(events), isExact, limits && JSON.stringify(limits), others],
      TIMEOUT_MS,
    );
    const [head, ...heard] = rows;
    const verdict = head?.['event'] as { readonly isTaken: boolean } | undefined; // the function makes it, and returns it first
    return {
      seen: Number(head?.['n']),
      isTaken: verdict?.isTaken === true,
      heard: heard.flatMap(({ run: other, event, agoMs }) => heardEventIn(other, event, agoMs) ?? []),
    };
  }

  async states(): Promise<readonly LaneState[]> {
    const { sql, project } = this.ports;
    const rows = await sql.query(STATES, [project], TIMEOUT_MS);
    return rows.map((row) => {
      const heldMs = Number(row['heldMs'] ?? 0);
      const limits = learnedLimitsIn(row['limits']);
      return {
        lane: String(row['lane']),
        seen: Number(row['seen']),
        limits: limits && { ...limits, ...(heldMs > 0 && { heldMs }) },
        starts: (row['starts'] as readonly HeardEvent[]).flatMap(({ run, event, agoMs }) => heardEventIn(run, event, agoMs) ?? []),
      };
    });
  }
}
