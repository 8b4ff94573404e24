/** A projection is a pure fold over events: it sees its two arguments and nothing else. */
import type { Fact, JournalEvent } from '../../journal/event.js';
import type { RunRef, Seq } from '../../journal/ids.js';
import type { Position } from '../../journal/store.js';

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
 * The event that a fact has become once the store has taken it: the fact itself, completed, because a run makes too many to copy
 * each. Without what no fold looks at: version and hash are the reader's business.
 */
export function eventOf(fact: Fact, seq: Seq, ts: string): JournalEvent {
  const event = fact as unknown as { seq: Seq; ts: string };
  event.seq = seq;
  event.ts = ts;
  return event as unknown as JournalEvent;
}

/** Keeps a state current while a run appends: call it with every event in the order of the journal. Returns the state. */
export function follow<State>(
  projection: Projection<State>,
  earlier: State,
  ref: RunRef,
): (event: JournalEvent, position: Position) => State {
  let state = earlier;
  return (event, position) => (state = projection.apply(state, event, { ref, position }));
}
