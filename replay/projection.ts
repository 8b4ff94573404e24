/** A projection is a pure fold over events: it sees its two arguments and nothing else. */
import type { JournalEvent } from '../journal/event.js';
import type { RunRef } from '../journal/ids.js';
import type { Position } from '../journal/store.js';

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
