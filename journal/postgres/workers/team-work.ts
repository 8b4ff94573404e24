/** Looks at the workers of a project, and at the calls that wait for one, in runs, claims and offers. team-store.md 14. */
import type { RunId, Workflow } from '../../ids.js';
import type { Row, Sql } from '../connection.js';
import { secondsSince } from '../seconds-since.js';
import { workerFactsIn } from './worker-facts.js';

/** Ages are in seconds, on the clock of the server. */
export interface WaitingOffers {
  readonly waiting: number;
  /** The age of the oldest; null when none waits. */
  readonly oldestS: number | null;
}

export interface TeamOffers extends WaitingOffers {
  readonly lanes: readonly (WaitingOffers & { readonly lane: string })[];
}

/** The run of a worker that is alive. */
export interface WorkerRun {
  readonly name: string;
  readonly version: string;
  readonly host: string;
  readonly slots: { readonly [lane: string]: number };
  readonly workflow: Workflow;
  readonly run: RunId;
  /** The run that it serves. */
  readonly for: RunId;
  /** Calls in flight. */
  readonly held: number;
  readonly executed: number;
  readonly failed: number;
  readonly superseded: number;
  /** The time since it was last heard of. */
  readonly heardS: number;
}

/** Offers that no worker executes, of runs that are alive. */
export async function waitingOffers(sql: Sql, project: string): Promise<TeamOffers> {
  const rows = await sql.query(
    `select o.lane, count(*)::int as waiting, ${secondsSince('min(o.offered_at)')} as oldest
     from mlld.offers o join mlld.runs r using (run_id) join mlld.workflows w on w.workflow_id = o.workflow_id join mlld.projects p using (project_id)
     where p.name = $1 and o.ended_seq is null and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
       and not exists (select from mlld.claims c join mlld.runs cr on cr.run_id = c.run_id
         where c.workflow_id = o.workflow_id and c.key = o.key and not cr.finished and mlld.is_alive(cr.lease_until, cr.lease_s))
       and not exists (select from mlld.answers a where a.workflow_id = o.workflow_id and a.key = o.key
         and not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq))
     group by o.lane order by o.lane`,
    [project],
  );
  const lanes = rows.map((row) => ({ lane: String(row['lane']), waiting: Number(row['waiting']), oldestS: rounded(row['oldest']) }));
  const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0);
  return { waiting, oldestS: waiting === 0 ? null : Math.max(...lanes.map(({ oldestS }) => oldestS)), lanes };
}

export async function livingWorkers(sql: Sql, project: string): Promise<readonly WorkerRun[]> {
  const rows = await sql.query(
    `select r.worker, r.host, r.run, o.run as for, w.path, (select count(*) from mlld.claims c where c.run_id = r.run_id)::int as held,
       ${secondsSince('r.lease_until - make_interval(secs => r.lease_s)')} as heard,
       e.executed, e.failed, e.superseded
     from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id) join mlld.runs o on o.run_id = r.of_run
       cross join lateral (
         select count(*) filter (where t.type = 'completed')::int as executed,
           count(*) filter (where t.type = 'failed' and t.line !~ '"retryInMs":')::int as failed,
           count(*) filter (where t.type = 'superseded')::int as superseded
         from (select line, substring(line from '^\\{"v":[0-9]+,"seq":[0-9]+,"type":"call\\.([a-z]+)"') as type
           from mlld.events where run_id = r.run_id) t) e
     where p.name = $1 and r.role = 'worker' and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
     order by r.worker ->> 'name', r.run collate "C"`,
    [project],
  );
  return rows.map(workerIn);
}

function workerIn(row: Row): WorkerRun {
  const { name, version, lanes } = workerFactsIn(row['worker']);
  const number = (column: string): number => Number(row[column] ?? 0);
  return {
    name,
    version,
    host: String(row['host']),
    slots: lanes,
    workflow: row['path'] as Workflow,
    run: row['run'] as RunId,
    for: row['for'] as RunId,
    held: number('held'),
    executed: number('executed'),
    failed: number('failed'),
    superseded: number('superseded'),
    heardS: Math.max(0, rounded(row['heard'])),
  };
}

function rounded(value: unknown): number {
  return Math.round(Number(value ?? 0) * 10) / 10;
}
