/** Connects the lanes of a run with those of the other runs of its project. team-store.md 8. */
import type { RunRef } from '../../../../journal/ids.js';
import type { Limiting } from '../../../../journal/postgres/open-store.js';
import type { JournalStore } from '../../../../journal/store.js';
import type { LaneSharing } from '../../../calls/lanes/lane-sharing.js';

interface SharingParts {
  readonly store: JournalStore;
  readonly run: RunRef;
  readonly io: { readonly monotonicMs: () => number; readonly nowMs: () => number };
  /** Hides secrets in the name of a lane, which may be made of arguments. */
  readonly redact: (text: string) => string;
}

/** Undefined for files, for which nothing is loaded. */
export async function openSharedLanes({ store, run, io, redact }: SharingParts): Promise<LaneSharing | undefined> {
  if (!('lanes' in store)) return undefined;
  const { SharedLanes } = await import('../../../calls/lanes/shared-lanes.js');
  return new SharedLanes({
    log: (store as JournalStore & Limiting).lanes,
    run,
    nameOf: (lane) => redact(lane.startsWith('@') ? `${run.workflow}${lane}` : lane), // a function is one of its script
    monotonicMs: io.monotonicMs,
    nowMs: io.nowMs,
  });
}
