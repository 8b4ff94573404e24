/** Lets workers that serve no run be seen. WAITING-WORKERS-1, team-store.md 14. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { WorkerFacts } from '../../storage/workers.js';
import type { Sql } from '../connection.js';
import { secondsSince } from '../seconds-since.js';
import { workerFactsIn } from './worker-facts.js';

/** A worker without work looks for calls every two seconds, and says no more often that it is there. */
const LEASE_MS_MIN = 10_000;

/** The row of one worker. */
export class WorkerPresence {
  private readonly id = randomUUID();
  private renewedMs = -Infinity;

  constructor(
    private readonly ports: { readonly sql: Sql; readonly project: string; readonly leaseMs: number; readonly timeoutMs: number },
  ) {}

  /** Does nothing where that was said less than a quarter of a lease ago. Also removes the rows of workers that are gone. */
  async renew({ name, version, lanes }: WorkerFacts): Promise<void> {
    const { sql, project, timeoutMs } = this.ports;
    const leaseMs = Math.max(this.ports.leaseMs, LEASE_MS_MIN);
    const nowMs = performance.now();
    if (nowMs < this.renewedMs + leaseMs / 4) return;
    await sql.query(
      `with gone as (delete from mlld.workers where project = $2 and worker_id <> $1 and not mlld.is_alive(lease_until, lease_s))
       insert into mlld.workers (worker_id, project, worker, host, pid, lease_s, lease_until)
       values ($1, $2, $3, $4, $5, $6::int, clock_timestamp() + make_interval(secs => $6::int))
       on conflict (worker_id) do update set lease_until = excluded.lease_until`,
      [this.id, project, JSON.stringify({ name, version, lanes }), hostname(), process.pid, Math.round(leaseMs / 1000)],
      timeoutMs,
    );
    this.renewedMs = nowMs;
  }

  async end(): Promise<void> {
    const { sql, timeoutMs } = this.ports;
    await sql.query('delete from mlld.workers where worker_id = $1', [this.id], timeoutMs);
  }
}

/** A worker that serves no run. */
export interface WaitingWorker {
  readonly name: string;
  readonly version: string;
  readonly host: string;
  readonly slots: WorkerFacts['lanes'];
  /** The time since it was last heard of, on the clock of the server. */
  readonly heardS: number;
}

export async function waitingWorkers(sql: Sql, project: string): Promise<readonly WaitingWorker[]> {
  const rows = await sql.query(
    `select k.worker, k.host, ${secondsSince('k.lease_until - make_interval(secs => k.lease_s)')} as heard
     from mlld.workers k
     where k.project = $1 and mlld.is_alive(k.lease_until, k.lease_s) and not exists (
       select from mlld.projects p join mlld.workflows w using (project_id) join mlld.runs r using (workflow_id)
       where p.name = k.project and r.role = 'worker' and not r.finished and mlld.is_alive(r.lease_until, r.lease_s)
         and r.host = k.host and r.pid = k.pid and r.worker ->> 'name' = k.worker ->> 'name')
     order by k.worker ->> 'name', k.worker_id`,
    [project],
  );
  return rows.map(({ worker, host, heard }) => {
    const { name, version, lanes } = workerFactsIn(worker);
    return { name, version, host: String(host), slots: lanes, heardS: Math.max(0, Math.round(Number(heard) * 10) / 10) };
  });
}
