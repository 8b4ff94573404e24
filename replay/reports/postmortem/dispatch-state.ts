/** Folds the dispatch of a run: its lanes, the stops, and the reservations of attempts in flight. calls.md 12 and 13. */
import type { Reservation, StopClass } from '../../../journal/facts/call-event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { Projection } from '../../fold/projection.js';

/** The reason for which no attempt was started any more. */
export interface DispatchStop {
  readonly class: StopClass;
  /** Null where it was not one lane. */
  readonly lane: string | null;
  /** ISO 8601, UTC; null where it is not known. */
  readonly resetsAt: string | null;
  readonly message: string;
  /** A budget that is enough for the call for which that of the run was too small. */
  readonly leastBudget?: string;
}

/** A lane as its last event has it; null where it has no such limit. */
export interface LaneNow {
  readonly lane: string;
  /** Attempts in flight. */
  readonly limit: number | null;
  readonly ceiling: number | null;
  readonly gapMs: number | null;
  /** ISO 8601, UTC. */
  readonly heldUntil: string | null;
  readonly stopped: StopClass | null;
}

/** The sum of what attempts had reserved that have not ended; null where none had. */
export interface Unsettled {
  readonly attempts: number;
  readonly usd: number | null;
  readonly tokens: number | null;
}

export interface DispatchState {
  /** In the order of their first event. */
  readonly lanes: Map<string, LaneNow>;
  readonly reserved: Map<OpPath, Reservation>;
  stopped: DispatchStop | undefined;
  pause: DispatchStop | undefined;
}

export const dispatchState: Projection<DispatchState> = {
  initial: () => ({ lanes: new Map(), reserved: new Map(), stopped: undefined, pause: undefined }),
  apply(state, event) {
    switch (event.type) {
      case 'lane.changed': {
        const { lane, limit, ceiling = null, gapMs = null, heldUntil = null } = event;
        const stopped = state.lanes.get(lane)?.stopped ?? null;
        state.lanes.set(lane, { lane, limit, ceiling, gapMs, heldUntil, stopped });
        return state;
      }
      case 'dispatch.stopped': {
        const { lane = null, resetsAt = null, message } = event;
        state.stopped ??= { class: event.class, lane, resetsAt, message };
        if (lane !== null) state.lanes.set(lane, { ...(state.lanes.get(lane) ?? untouched(lane)), stopped: event.class });
        return state;
      }
      case 'dispatch.resumed': {
        const known = state.lanes.get(event.lane);
        if (known) state.lanes.set(event.lane, { ...known, stopped: null });
        if (state.stopped?.lane === event.lane) state.stopped = undefined;
        return state;
      }
      case 'call.started':
        if (event.reserved === undefined) state.reserved.delete(event.op);
        else state.reserved.set(event.op, event.reserved);
        return state;
      case 'call.withdrawn':
      case 'call.completed':
      case 'call.failed':
        state.reserved.delete(event.op);
        return state;
      case 'run.finished': {
        const { pause } = event;
        if (pause) state.pause = { lane: null, resetsAt: null, ...pause };
        return state;
      }
      default:
        return state;
    }
  },
};

function untouched(lane: string): LaneNow {
  return { lane, limit: null, ceiling: null, gapMs: null, heldUntil: null, stopped: null };
}

/** Returns why the run was paused, or what had stopped it before it died. calls.md 18. */
export function stopOf({ pause, stopped }: DispatchState): DispatchStop | null {
  return pause ?? stopped ?? null;
}

export function unsettledIn({ reserved }: DispatchState): Unsettled {
  let [usd, tokens]: [number | null, number | null] = [null, null];
  for (const each of reserved.values()) {
    if (each.usd !== undefined) usd = (usd ?? 0) + each.usd;
    if (each.tokens !== undefined) tokens = (tokens ?? 0) + each.tokens;
  }
  return { attempts: reserved.size, usd, tokens };
}
