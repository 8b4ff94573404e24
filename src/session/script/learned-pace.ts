/** Reads what an earlier run of a script learned about its lanes, and what its attempts cost. calls.md 12.9 and 13.3. */
import type { RunRef, Workflow } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { callHistory, learnedLanes, type CallHistory } from '../../../replay/fold/call-history.js';
import { follow } from '../../../replay/fold/projection.js';
import { isRecordOfUpkeep } from '../../../replay/fold/record-of-upkeep.js';
import type { LearnedPace } from '../../calls/dispatch/ports.js';

/** Older states are forgotten: a provider's limits change with the hour. */
const LANE_AGE_MAX_MS = 3_600_000;
/** No more is read for it: behind a longer run the pace is learned anew. */
const BYTES_MAX = 64 * 1024 * 1024;

export interface Learning {
  /** The run that learns. */
  readonly current: RunRef | undefined;
  readonly nowMs: number;
  /** Runs that were listed already, oldest first: listing them again takes a read for each. */
  readonly listed?: readonly RunFile[];
  /** A budget reserves by earlier costs: where the latest run has none, because it only reused or simulated, the run before tells them. */
  readonly reserves?: boolean;
}

/**
 * Reads the latest run but `current` that made attempts: one that only reused results, or simulated all, learned nothing. Called when the
 * first attempt is about to start.
 */
export async function learnedPace(
  store: Pick<JournalStore, 'runs' | 'scan'>,
  workflow: Workflow,
  { current, nowMs, listed = [], reserves = false }: Learning,
): Promise<LearnedPace> {
  const isEarlier = (file: RunFile): boolean => file.ref.run !== current?.run && !isRecordOfUpkeep(file);
  const known = listed.filter(isEarlier);
  const runs = (known.length > 0 ? known : (await store.runs(workflow)).filter(isEarlier)).toReversed();
  let bytesLeft = BYTES_MAX;
  let latest: Pick<CallHistory, 'lanes' | 'sessions'> | undefined;
  let costs: CallHistory['costs'] = new Map();
  for (const { ref, bytes } of runs) {
    bytesLeft -= bytes;
    if (bytesLeft < 0) break;
    const { history, endMs } = await historyOf(store, ref);
    const learned = { lanes: learnedLanes(history), sessions: history.sessions };
    if (learned.lanes.size > 0 || learned.sessions.size > 0) latest ??= learned;
    if (costs.size === 0) ({ costs } = history);
    const hasPace = latest !== undefined || nowMs - endMs > LANE_AGE_MAX_MS;
    if (hasPace && (!reserves || costs.size > 0)) break;
  }
  const { lanes, sessions } = latest ?? callHistory.initial();
  const isRecent = ([, { atMs }]: readonly [string, { readonly atMs: number }]): boolean => nowMs - atMs <= LANE_AGE_MAX_MS;
  return { lanes: new Map([...lanes].filter(isRecent)), costs, sessions };
}

/** `endMs` is the time of the last event. */
async function historyOf(store: Pick<JournalStore, 'scan'>, ref: RunRef): Promise<{ history: CallHistory; endMs: number }> {
  let history = callHistory.initial();
  let ts = '';
  const apply = follow(callHistory, history, ref);
  await store.scan(ref, (event, position) => {
    history = apply(event, position);
    ({ ts } = event);
  });
  return { history, endMs: ts === '' ? Number.NEGATIVE_INFINITY : Date.parse(ts) };
}
