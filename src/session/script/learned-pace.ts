/** Reads what the latest run of a script learned about its lanes, and what its attempts cost. calls.md 12.9 and 13.3. */
import type { RunRef, Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { callHistory } from '../../../replay/fold/call-history.js';
import { follow } from '../../../replay/fold/projection.js';
import { isRecordOfUpkeep } from '../../../replay/fold/record-of-upkeep.js';
import type { LearnedPace } from '../../calls/dispatch/ports.js';

/** Older states are forgotten: a provider's limits change with the hour. */
const LANE_AGE_MAX_MS = 3_600_000;
/** A longer run is not read for it: the pace is then learned anew. */
const BYTES_MAX = 64 * 1024 * 1024;

export interface Learning {
  /** The run that learns. */
  readonly current: RunRef | undefined;
  readonly nowMs: number;
  /** Runs that were listed already, oldest first: listing them again takes a read for each. */
  readonly listed?: readonly RunFile[];
}

/** Reads the latest run but `current`. Called when the first attempt is about to start: a run that only reuses results learns nothing. */
export async function learnedPace(
  store: Pick<JournalStore, 'runs' | 'scan'>,
  workflow: Workflow,
  { current, nowMs, listed = [] }: Learning,
): Promise<LearnedPace> {
  const isEarlier = (file: RunFile): boolean => file.ref.run !== current?.run && !isRecordOfUpkeep(file);
  const latest = listed.findLast(isEarlier) ?? (await store.runs(workflow)).findLast(isEarlier);
  const apply = latest && follow(callHistory, callHistory.initial(), latest.ref);
  let history = callHistory.initial();
  if (latest && apply && latest.bytes <= BYTES_MAX) await store.scan(latest.ref, (event, position) => (history = apply(event, position)));
  const isRecent = ([, { atMs }]: readonly [string, { readonly atMs: number }]): boolean => nowMs - atMs <= LANE_AGE_MAX_MS;
  return { lanes: new Map([...history.lanes].filter(isRecent)), costs: history.costs, sessions: history.sessions };
}
