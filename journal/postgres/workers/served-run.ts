/** The run of a worker, and the calls that it holds. team-store.md 7.1. */
import type { CallKey } from '../../ids.js';
import type { OfferingRun, ServedRun, TakenOffer, WorkerFacts } from '../../storage/workers.js';
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

/** A run as `mlld.take_offers` takes it. */
export interface TakingRow extends RunRow {
  readonly held: readonly CallKey[];
  /** Behind these offers, by lane, it looks first. TOGETHER-2 */
  readonly from: { readonly [lane: string]: string };
}

export interface PgServedRun extends ServedRun {
  /** Its row, and the calls that it holds; undefined until the server has it. */
  readonly row: () => TakingRow | undefined;
  /** Returns what must be told of each offer that a statement took which is handed over now. CLAIM-ROWS-1 */
  readonly taking: () => (taken: TakenOffer) => void;
}

/** All offers are looked at so often. TOGETHER-2 */
const TAKE_ALL_MS = 500;

interface Parts {
  readonly journal: TeamJournal;
  readonly rows: RunRows;
  readonly sink: SpillingRows;
}

export function servedRun(of: OfferingRun, { journal, rows, sink }: Parts): PgServedRun {
  // An end that is in the spill frees the call in this process before the server knows of it.
  const ending = new Set<CallKey>();
  const taken = new Map<CallKey, TakenOffer & { readonly lapses: number }>();
  let from: { readonly [lane: string]: string } = {};
  let lookedAtAllMs = -Infinity;
  return {
    of,
    journal,
    row() {
      if (performance.now() > lookedAtAllMs + TAKE_ALL_MS) {
        lookedAtAllMs = performance.now();
        from = {};
      }
      journal.claims.freeReturned(); // a store that was away may be back
      return rows.row && { ...rows.row, held: [...journal.claims.keys, ...ending], from };
    },
    taking() {
      const { lapses } = rows.lease;
      return (offer) => taken.set(offer.key, { ...offer, lapses });
    },
    hold(key) {
      const offer = taken.get(key);
      taken.delete(key);
      journal.claims.hold(key, offer?.lapses);
      if (offer) from = { ...from, [offer.lane]: offer.id };
    },
    giveBack(key) {
      if (journal.claims.holds(key)) from = {}; // it was not executed
      journal.claims.giveBack(key);
    },
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
