/** A projection is a pure fold over events: it sees its two arguments and nothing else. */
import { JOURNAL_VERSION, type Fact, type JournalEvent } from '../journal/event.js';
import type { RunRef } from '../journal/ids.js';
import type { Position, Recorded } from '../journal/store.js';

/** Where the event stands that is being applied. Results stay on disk; a state keeps the place. */
export interface Place {
  readonly ref: RunRef;
  readonly position: Position;
}

/** The state belongs to the fold that made it, so `apply` may change it in place. */
export interface Projection<State> {
  initial(): State;
  apply(state: State, event: JournalEvent, place: Place): State;
}

/** An event together with where it stands. */
export interface Entry {
  readonly event: JournalEvent;
  readonly place: Place;
}

/** Applies events in order, onto a state of an earlier fold if one is given (which then belongs to this fold). */
export function fold<State>(projection: Projection<State>, entries: Iterable<Entry>, earlier?: State): State {
  let state = earlier === undefined ? projection.initial() : earlier;
  for (const { event, place } of entries) state = projection.apply(state, event, place);
  return state;
}

/**
 * Keeps a state current while a run appends: call it with every fact in the order of the journal, once the store has
 * taken it. `ts` is the event's time, ISO 8601. Returns the state.
 */
export function follow<State>(
  projection: Projection<State>,
  earlier: State,
  ref: RunRef,
): (fact: Fact, recorded: Recorded, ts: string) => State {
  let state = earlier;
  return (fact, { seq, position }, ts) => {
    // No fold looks at the hash: the chain is the reader's business. The cast: a spread union loses its correlation.
    const event = { ...fact, v: JOURNAL_VERSION, seq, ts, hash: '' } as JournalEvent;
    state = projection.apply(state, event, { ref, position });
    return state;
  };
}
