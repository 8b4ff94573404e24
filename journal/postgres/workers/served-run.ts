/** The run of a worker, and the calls that it holds. team-store.md 7.1. */
import type { CallKey } from '../../ids.js';
import type { OfferingRun, ServedRun, WorkerFacts } from '../../storage/workers.js';
import type { RunRow, RunRows } from '../run-rows.js';
import type { SpillingRows } from '../spill/spilling-rows.js';
import type { TeamJournal } from '../team-journal.js';

/** The run that another one keeps the ends of calls for, because it was sealed, or executes calls for. */
export interface Serving {
  /** A bigint, as text. */
  readonly of: string;
  /** Absent: it was sealed. */
  readonly worker?: WorkerFacts;
}

export interface PgServedRun extends ServedRun {
  /** Its row, and the calls that it holds; undefined until the server has it. */
  readonly row: () => (RunRow & { readonly held: readonly CallKey[] }) | undefined;
  /** Returns what must be told which offers a statement took that is handed over now. CLAIM-ROWS-1 */
  readonly taking: () => (taken: readonly CallKey[]) => void;
}

interface Parts {
  readonly journal: TeamJournal;
  readonly rows: RunRows;
  readonly sink: SpillingRows;
}

export function servedRun(of: OfferingRun, { journal, rows, sink }: Parts): PgServedRun {
  // An end that is in the spill frees the call in this process before the server knows of it.
  const ending = new Set<CallKey>();
  const lapsesAt = new Map<CallKey, number>();
  return {
    of,
    journal,
    row: () => rows.row && { ...rows.row, held: [...journal.claims.keys, ...ending] },
    taking() {
      const { lapses } = rows.lease;
      return (taken) => {
        for (const key of taken) lapsesAt.set(key, lapses);
      };
    },
    hold(key) {
      journal.claims.hold(key, lapsesAt.get(key));
      lapsesAt.delete(key);
    },
    giveBack: (key) => journal.claims.giveBack(key),
    hurry() {
      journal.hurry();
      sink.hurry();
    },
    ended(key, { offset, bytes }) {
      ending.add(key);
      sink.committed(offset + bytes).then(
        () => ending.delete(key),
        () => undefined, // the run takes no further call
      );
    },
  };
}
