/**
 * The lock of a workflow in a store: a row with a lease. Locks of the database would not work behind a pool of connections.
 *
 * WORKFLOW-LEASE-1 Only who took the row, or finds its lease run out on the server's clock, has the lock. A dead holder stops others for a
 *    lease at most, and what SQL has written for ever stops nobody (ENDLESS-ROWS-1).
 * WORKFLOW-LEASE-2 Releasing removes the row only while it is the holder's own.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { JournalError } from '../errors.js';
import type { Workflow } from '../ids.js';
import type { Sql } from './connection.js';

const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 500;
/** Deciding takes as long as reading the prior runs of one pipeline. */
const LOCK_WAIT_MS = 30_000;

export interface WorkflowLeaseOptions {
  readonly sql: Sql;
  readonly project: string;
  readonly leaseMs: number;
}

/** Resolves with the function that releases the lock. Throws `JournalError` JOURNAL_BUSY when another process holds it for too long. */
export async function leaseWorkflow({ sql, project, leaseMs }: WorkflowLeaseOptions, workflow: Workflow): Promise<() => Promise<void>> {
  const holder = randomUUID();
  const take = (): Promise<readonly unknown[]> =>
    sql.query(
      `insert into mlld.turns as t (workflow_id, holder, until)
         values (mlld.workflow_of($1, $2), $3, clock_timestamp() + make_interval(secs => $4))
       on conflict (workflow_id) do update set holder = excluded.holder, until = excluded.until
         where t.until < clock_timestamp() or t.until > clock_timestamp() + interval '2 hours' or t.holder = excluded.holder returning 1`,
      [project, workflow, holder, leaseMs / 1000],
    );
  const endMs = performance.now() + Math.max(LOCK_WAIT_MS, 2 * leaseMs);
  for (let delayMs = RETRY_FIRST_MS; (await take()).length === 0; delayMs = Math.min(2 * delayMs, RETRY_MAX_MS)) {
    if (performance.now() > endMs) {
      throw new JournalError('JOURNAL_BUSY', 'timed out waiting for another process that is starting a run of this workflow', {
        hint: 'wait for it, or end it',
      });
    }
    await sleep(delayMs);
  }
  const renewal = setInterval(() => void take().catch(() => undefined), leaseMs / 4); // the lease may run out: then another takes it
  renewal.unref();
  let released: Promise<void> | undefined;
  return () => {
    clearInterval(renewal);
    released ??= sql.query('delete from mlld.turns where holder = $1', [holder]).then(() => undefined);
    return released;
  };
}
