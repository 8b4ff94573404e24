/** Measures how many calls of a run were in flight at a time, so that an estimate can say how long calls take side by side. */
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
}

export function noConcurrency(): CallConcurrency {
  return { inFlight: new Set(), lastMs: 0, busyMs: 0, callsMs: 0 };
}

const CHANGES: ReadonlySet<JournalEvent['type']> = new Set<JournalEvent['type']>([
  'call.started',
  'call.withdrawn',
  'call.completed',
  'call.failed',
]);

export function measureConcurrency(state: CallConcurrency, event: JournalEvent): void {
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
