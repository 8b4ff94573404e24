/** Everything a scan says about a run. */
import type { JournalEvent } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { Defect, JournalStore, Position, ScanOptions, ScanReport } from '../../../journal/store.js';

export interface Reading {
  readonly events: JournalEvent[];
  readonly positions: Position[];
  readonly defects: Defect[];
  readonly report: ScanReport;
}

export async function readRun(store: JournalStore, ref: RunRef, options: ScanOptions = {}): Promise<Reading> {
  const events: JournalEvent[] = [];
  const positions: Position[] = [];
  const defects: Defect[] = [];
  const report = await store.scan(
    ref,
    (event, position) => {
      events.push(event);
      positions.push(position);
    },
    { ...options, onDefect: (defect) => defects.push(defect) },
  );
  return { events, positions, defects, report };
}

/** The event without what the journal adds. */
export function factOf({ v: _v, seq: _seq, ts: _ts, hash: _hash, ...fact }: JournalEvent): unknown {
  return fact;
}
