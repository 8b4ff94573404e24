/** Makes the row of a run: one of its own, one that goes on with another run, serves it, or keeps what its calls ended with. */
import { hostname } from 'node:os';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { JournalError } from '../errors.js';
import type { RunRef } from '../ids.js';
import { inUse } from '../storage/runs/reopen-run.js';
import type { ContinuedRun } from '../store.js';
import type { Sql } from './connection.js';
import { mayPass, stateBehind, TAKEN_OVER_STATE } from './store-errors.js';
import type { Serving } from './workers/served-run.js';
import { describeProcess } from './writer-process.js';

export interface BeginningPorts {
  readonly sql: Sql;
  readonly project: string;
  readonly leaseMs: number;
  /** A statement that takes longer counts as lost. */
  readonly timeoutMs: number;
}

/** Without any of them the run stands for itself. */
export interface Beginning {
  readonly serves?: Serving | undefined;
  readonly continues?: ContinuedRun | undefined;
}

/**
 * Returns the id of the row, a bigint as text. The same writer may begin its run again: it gets the same row.
 * Throws JOURNAL_RUN_EXISTS, and JOURNAL_RUN_IN_USE for a run that another process has gone on with.
 */
export async function beginRunRow(
  { sql, project, leaseMs, timeoutMs }: BeginningPorts,
  ref: RunRef,
  writer: string,
  { serves, continues }: Beginning,
): Promise<string> {
  const values = [project, ref.workflow, ref.run, writer, Math.ceil(leaseMs / 1000), hostname(), pid, describeProcess()];
  const ask = async (begin: string, more: readonly unknown[]): Promise<unknown> => {
    const places = [...values, ...more].map((_, i) => `$${i + 1}`).join(', ');
    const [made] = await sql.query(`select mlld.${begin}(${places})::text as id`, [...values, ...more], timeoutMs);
    return made?.['id'];
  };
  const id =
    continues !== undefined
      ? await ask('begin_after', [continues.ref.run, continues.bytes, continues.fence ?? 0]).catch((error: unknown) => {
          throw stateBehind(error) === TAKEN_OVER_STATE ? inUse(continues.ref) : error;
        })
      : serves?.worker === undefined
        ? await ask('begin_run', [serves?.of])
        : await ask('begin_worker', [serves.of, JSON.stringify(serves.worker)]);
  if (typeof id === 'string') return id;
  throw new JournalError('JOURNAL_RUN_EXISTS', `there is a run ${ref.run} of ${ref.workflow} already`);
}

/** A run that goes on with another one waits so long for a server that restarts: it can't begin without it. */
const BEGIN_WAIT_MS = 10_000;
const BEGIN_AGAIN_MS = 200;

/** `begin` may have been done, and its answer lost: then the other run is taken, and only this writer can begin the one that has it. */
export async function beginAgain<T>(begin: () => Promise<T>, waitMs: number): Promise<T> {
  for (const endMs = performance.now() + Math.min(waitMs, BEGIN_WAIT_MS); ;) {
    try {
      return await begin();
    } catch (error) {
      if (!mayPass(error) || performance.now() > endMs) throw error;
      await sleep(BEGIN_AGAIN_MS);
    }
  }
}
