/**
 * Folds what a run learned about its lanes, and what its attempts cost: a later run begins with that. Simulated attempts teach nothing.
 * calls.md 12.9 and 13.3.
 */
import type { Usage } from '../../journal/event.js';
import { isTurnedAway } from '../../journal/facts/turned-away.js';
import type { OpPath } from '../../journal/ids.js';
import type { Projection } from './projection.js';
import { isOfSimulatedCall, noSimulatedCalls, type SimulatedCalls } from './simulated-calls.js';

/** Costs that are kept for each function. */
const COSTS_MAX = 100;

/** The cost of an attempt that did nothing but make calls. calls.md 13.4. */
const NOTHING: Usage = { costUsd: 0, inputTokens: 0, outputTokens: 0 };

/** The limits of a lane, as its last event has them. */
export interface LaneState {
  readonly limit: number;
  readonly ceiling?: number;
  readonly gapMs?: number;
  /** Milliseconds since 1970, like `atMs`. */
  readonly heldUntilMs?: number;
  /** The time of the event. */
  readonly atMs: number;
}

export interface KnownCost {
  /** US dollars. */
  readonly usd?: number;
  readonly tokens?: number;
}

export interface CallHistory {
  readonly lanes: Map<string, LaneState>;
  /** By function, oldest first. */
  readonly costs: Map<string, KnownCost[]>;
  /** The largest cost of each session of a model program, in US dollars. */
  readonly sessions: Map<string, number>;
  /** The functions of the attempts that have not ended. */
  readonly running: Map<OpPath, string>;
  readonly simulated: SimulatedCalls;
  /** For each lane in which attempts were started: whether all of them were simulated. */
  readonly isOnlySimulated: Map<string, boolean>;
}

export const callHistory: Projection<CallHistory> = {
  initial: () => ({
    lanes: new Map(),
    costs: new Map(),
    sessions: new Map(),
    running: new Map(),
    simulated: noSimulatedCalls(),
    isOnlySimulated: new Map(),
  }),
  apply(state, event) {
    const isSimulated = isOfSimulatedCall(state.simulated, event);
    if (event.type === 'call.started' && event.lane !== undefined)
      state.isOnlySimulated.set(event.lane, isSimulated && state.isOnlySimulated.get(event.lane) !== false);
    if (isSimulated) return state;
    switch (event.type) {
      case 'lane.changed': {
        const { lane, limit, ceiling, gapMs, heldUntil, ts } = event;
        state.lanes.set(lane, {
          limit,
          ...(ceiling === undefined ? {} : { ceiling }),
          ...(gapMs === undefined ? {} : { gapMs }),
          ...(heldUntil === undefined ? {} : { heldUntilMs: Date.parse(heldUntil) }),
          atMs: Date.parse(ts),
        });
        return state;
      }
      case 'call.started':
        if (event.received === undefined) state.running.set(event.op, event.fn); // else its cost is that of the earlier execution
        return state;
      case 'call.completed':
      case 'call.failed': {
        const fn = state.running.get(event.op);
        state.running.delete(event.op);
        const { costUsd: usd, sessionCostUsd = usd, inputTokens, outputTokens } = event.usage ?? (event.onlyCalls ? NOTHING : {});
        const { session } = event;
        if (session !== undefined && sessionCostUsd !== undefined)
          state.sessions.set(session, Math.max(state.sessions.get(session) ?? 0, sessionCostUsd));
        const tokens = inputTokens === undefined && outputTokens === undefined ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0);
        if (fn === undefined || (usd === undefined && tokens === undefined)) return state;
        if (isTurnedAway(event.class) && !usd && !tokens) return state; // it tells no cost: calls.md 13.3
        const costs = state.costs.get(fn) ?? [];
        costs.push({ ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) });
        if (costs.length > COSTS_MAX) costs.shift();
        state.costs.set(fn, costs);
        return state;
      }
      default:
        return state;
    }
  },
};

/** Returns the lanes about which the run learned something. */
export function learnedLanes({ lanes, isOnlySimulated }: CallHistory): CallHistory['lanes'] {
  return new Map([...lanes].filter(([lane]) => isOnlySimulated.get(lane) !== true));
}
