/** Keeps the state of a graph run current with its journal, and going when the journal can't be written any more. */
import type { Fact, JournalEvent } from '../../../journal/event.js';
import type { RunRef, Seq } from '../../../journal/ids.js';
import type { Position } from '../../../journal/store.js';
import { graphState, type GraphState } from '../../../replay/pipeline/graph-state.js';
import { eventOf } from '../../../replay/fold/projection.js';
import type { Ledger } from '../../pipeline/walk/pipeline-runtime.js';
import type { Recorder } from '../../runtime/recorder.js';
import type { Follower } from '../ports/recorder.js';

export interface StateKeeper {
  readonly state: GraphState;
  readonly follow: Follower;
  /** Once the run is open. */
  ledger(recorder: Recorder, ref: RunRef, timestamp: () => string): Ledger;
}

const NOWHERE = { offset: 0, bytes: 0 };

/** `earlier` is the state that a resume goes on from; the keeper owns it. */
export function createStateKeeper(
  earlier: GraphState | undefined,
  refOf: () => RunRef,
  onEvent?: (event: JournalEvent) => void,
): StateKeeper {
  let state = earlier ?? graphState.initial();
  let followed = 0;
  const apply = (event: JournalEvent, ref: RunRef, position: Position): void => {
    state = graphState.apply(state, event, { ref, position });
  };
  return {
    get state() {
      return state;
    },
    follow(event, position) {
      followed += 1;
      apply(event, refOf(), position);
      onEvent?.(event);
    },
    ledger(recorder, ref, timestamp) {
      // A journal that broke follows no more facts; the run goes on without it.
      const applyAlone = (fact: Fact): void => apply(eventOf(fact, (state.seq ?? 0) as Seq, timestamp()), ref, NOWHERE);
      return {
        get state() {
          return state;
        },
        post(fact) {
          const before = followed;
          recorder.post(fact);
          if (followed === before) applyAlone(fact);
        },
        async append(fact) {
          const before = followed;
          const appended = recorder.append(fact);
          if (followed === before) applyAlone(fact);
          await appended;
        },
      };
    },
  };
}
