/**
 * Renews the leases of the runs that this process writes, all in one statement, every quarter of a lease.
 *
 * HEARTBEAT-1 It belongs to the event loop that makes the calls: a process that is stopped or starved must miss it.
 * HEARTBEAT-2 A run that somebody sealed keeps the end of its lease, whoever renews it. Its writer hears of that here, also while it waits
 *    for a person or a command, and appends nothing.
 * HEARTBEAT-3 It also frees what the dead have claimed, so that nothing lasts longer than a lease and a heartbeat.
 * HEARTBEAT-4 One that the server refuses will not succeed later: the leases run out, and others take the calls over. So no further call
 *    begins in this process; what calls in flight return is recorded as long as nobody has sealed their run.
 */
import type { JournalError } from '../errors.js';
import { momentNow, type OwnLease } from './claims/own-lease.js';
import type { Sql } from './connection.js';
import type { RunRow } from './run-rows.js';
import { mayPass } from './store-errors.js';

interface HeartbeatPorts {
  readonly onRefused: (error: JournalError) => void;
  /** Called with a run that the server has not, or has with another fence. */
  readonly onMissed: (run: RunRow) => void;
}

export class Heartbeat {
  private readonly runs = new Map<RunRow, OwnLease>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly sql: Sql,
    private readonly leaseMs: number,
    private readonly project: string,
    private readonly ports: HeartbeatPorts,
  ) {}

  add(run: RunRow, lease: OwnLease): void {
    this.runs.set(run, lease);
    this.timer ??= setInterval(() => void this.renew(), this.leaseMs / 4).unref();
  }

  remove(run: RunRow): void {
    this.runs.delete(run);
    if (this.runs.size === 0) this.stop();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** One that did not reach the server is not reported: the next comes soon, and the writer says what is wrong with the store. */
  private async renew(): Promise<void> {
    const leases = new Map(this.runs);
    const runs = [...leases.keys()];
    const sent = momentNow();
    await this.sql
      .query(
        `update mlld.runs r set lease_until = clock_timestamp() + make_interval(secs => r.lease_s)
         from unnest($1::bigint[], $2::int[]) as mine (run_id, fence) where r.run_id = mine.run_id and r.fence = mine.fence
         returning r.run_id::text as id`,
        [runs.map(({ id }) => id), runs.map(({ fence }) => fence)],
        this.leaseMs / 4,
      )
      .then((renewed) => {
        const ids = new Set(renewed.map(({ id }) => id));
        for (const [run, lease] of leases) {
          if (ids.has(run.id)) lease.acknowledged(sent);
          else if (this.runs.has(run)) this.ports.onMissed(run); // HEARTBEAT-2
        }
      })
      .then(() => this.sql.query('select mlld.sweep_claims($1)', [this.project], this.leaseMs / 4))
      .catch((error: JournalError) => {
        if (!mayPass(error)) this.ports.onRefused(error); // HEARTBEAT-4
      });
  }
}
