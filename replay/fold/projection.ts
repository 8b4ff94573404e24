/** A projection is a pure fold over events: it sees its two arguments and nothing else. */
import { JOURNAL_VERSION, type Fact, type JournalEvent } from '../../journal/event.js';
import type { RunRef, Seq } from '../../journal/ids.js';
import type { Position } from '../../journal/store.js';

/** The place of the event that is applied. Results remain on disk; a state keeps the place. */
export interface Place {
  readonly ref: RunRef;
  readonly position: Position;
}

/** The state belongs to the fold that made it, so `apply` may change it in place. */
export interface Projection<State> {
  initial(): State;
  apply(state: State, event: JournalEvent, place: Place): State;
}

/** An event with its place in the journal. */
export interface Entry {
  readonly event: JournalEvent;
  readonly place: Place;
}

/** Applies events in order, onto the state of an earlier fold where there is one (which then belongs to this fold). */
export function fold<State>(projection: Projection<State>, entries: Iterable<Entry>, earlier?: State): State {
  let state = earlier === undefined ? projection.initial() : earlier;
  for (const { event, place } of entries) state = projection.apply(state, event, place);
  return state;
}

/**
 * Returns the event that a fact is in its run, as a reader of the journal finds it; the fact is left as it was. A fact that is in no
 * journal has no hash. Members of the fact come last because V8 copies them several times faster behind a fixed beginning.
 */
export function eventOf(fact: Fact, seq: Seq, ts: string, hash = ''): JournalEvent {
  return { v: JOURNAL_VERSION, seq, ts, hash, ...fact };
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
