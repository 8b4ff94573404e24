/** The run of a worker, and the calls that it holds. team-store.md 7.1. */
import type { CallKey } from '../../ids.js';
import type { OfferingRun, ServedRun } from '../../storage/workers.js';
import type { RunRow, RunRows } from '../run-rows.js';
import type { SpillingRows } from '../spill/spilling-rows.js';
import type { TeamJournal } from '../team-journal.js';

export interface PgServedRun extends ServedRun {
  /** Its row, and the calls that it holds; undefined until the server has it. */
  readonly row: () => (RunRow & { readonly held: readonly CallKey[] }) | undefined;
}

interface Parts {
  readonly journal: TeamJournal;
  readonly rows: RunRows;
  readonly sink: SpillingRows;
}

export function servedRun(of: OfferingRun, { journal, rows, sink }: Parts): PgServedRun {
  // An end that is in the spill frees the call in this process before the server knows of it.
  const ending = new Set<CallKey>();
  return {
    of,
    journal,
    row: () => rows.row && { ...rows.row, held: [...journal.claims.keys, ...ending] },
    hold: (key) => journal.claims.hold(key),
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
