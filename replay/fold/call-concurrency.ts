/**
 * Measures how many calls of a run were in flight at a time, and how far apart they may start, so that an estimate can say how long they
 * take.
 */
import type { JournalEvent } from '../../journal/event.js';
import type { OpPath } from '../../journal/ids.js';

export interface CallConcurrency {
  readonly inFlight: Set<OpPath>;
  /** Time of the latest event that started or ended a call. */
  lastMs: number;
  /** Time in which at least one call was in flight. */
  busyMs: number;
  /** Time in calls; those that ran side by side are added up. */
  callsMs: number;
  /** The least time between two starts of a lane, by its name. calls.md 12.2 */
  readonly gapsMs: Map<string, number>;
  /** The lanes in which the functions were executed last. */
  readonly lanes: Map<string, string>;
}

export function noConcurrency(): CallConcurrency {
  return { inFlight: new Set(), lastMs: 0, busyMs: 0, callsMs: 0, gapsMs: new Map(), lanes: new Map() };
}

const CHANGES: ReadonlySet<JournalEvent['type']> = new Set<JournalEvent['type']>([
  'call.started',
  'call.withdrawn',
  'call.completed',
  'call.failed',
]);

export function measureConcurrency(state: CallConcurrency, event: JournalEvent): void {
  if (event.type === 'lane.changed') state.gapsMs.set(event.lane, event.gapMs ?? 0);
  if (event.type === 'call.started' && event.lane !== undefined) state.lanes.set(event.fn, event.lane);
  if (!CHANGES.has(event.type) || !('op' in event) || event.op === undefined) return;
  const nowMs = Date.parse(event.ts);
  if (state.inFlight.size > 0) {
    const sinceMs = Math.max(0, nowMs - state.lastMs); // the clock of the machine may have been set back
    state.busyMs += sinceMs;
    state.callsMs += sinceMs * state.inFlight.size;
  }
  state.lastMs = nowMs;
  if (event.type === 'call.started') state.inFlight.add(event.op);
  else state.inFlight.delete(event.op);
}

/** Calls in flight on average, while any was; 1 where no call took measurable time. */
export function concurrencyOf({ callsMs, busyMs }: Pick<CallConcurrency, 'callsMs' | 'busyMs'>): number {
  return busyMs === 0 ? 1 : callsMs / busyMs;
}

/** The wall time of calls that take `callsMs` together, of which the longest takes `longestMs`. */
export function wallTime(callsMs: number, longestMs: number, concurrency: number): number {
  return Math.round(Math.max(longestMs, callsMs / concurrency));
}

/** The time until the last of these calls starts, where the gap of their lane keeps them apart. `calls`: their numbers by function. */
export function startsTime({ gapsMs, lanes }: Pick<CallConcurrency, 'gapsMs' | 'lanes'>, calls: ReadonlyMap<string, number>): number {
  const starts = new Map<string, number>();
  for (const [fn, count] of calls) {
    const lane = lanes.get(fn);
    if (lane !== undefined) starts.set(lane, (starts.get(lane) ?? 0) + count);
  }
  const times = [...starts].map(([lane, count]) => Math.max(0, count - 1) * (gapsMs.get(lane) ?? 0));
  return Math.round(Math.max(0, ...times));
}
