/** Keeps the state of a pipeline's run current with its journal; where the journal takes no more facts, the state goes on without it. */
import type { Fact, JournalEvent } from '../../../journal/event.js';
import type { RunRef, Seq } from '../../../journal/ids.js';
import type { Position } from '../../../journal/store.js';
import { pipelineState, type PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { emptyWalk } from '../../../replay/pipeline/walk.js';
import { eventOf } from '../../../replay/fold/projection.js';
import type { Ledger } from '../../pipeline/stage/state-ledger.js';
import type { Follower, RunRecorder } from '../ports/recorder.js';

export interface StateKeeper {
  readonly state: PipelineState;
  readonly follow: Follower;
  /** Makes the ledger of a run whose journal is open. */
  ledger(recorder: RunRecorder, ref: RunRef, timestamp: () => string): Ledger;
}

const NOWHERE = { offset: 0, bytes: 0 };

/** @param earlier the state that a resume continues from; it belongs to the keeper */
export function createStateKeeper(
  earlier: PipelineState | undefined,
  refOf: () => RunRef,
  onEvent?: (event: JournalEvent) => void,
): StateKeeper {
  let state = earlier ?? pipelineState.initial();
  const apply = (event: JournalEvent, ref: RunRef, position: Position): void => {
    state = pipelineState.apply(state, event, { ref, position });
  };
  return {
    get state() {
      return state;
    },
    follow(event, position) {
      apply(event, refOf(), position);
      onEvent?.(event);
    },
    ledger(recorder, ref, timestamp) {
      // The journal does not have the fact, so it has no place there either.
      const applyUnrecorded = (fact: Fact): void => apply(eventOf(fact, (state.seq ?? 0) as Seq, timestamp()), ref, NOWHERE);
      return {
        get state() {
          return state;
        },
        emptyWalk,
        post(fact) {
          if (!recorder.post(fact)) applyUnrecorded(fact);
        },
        async append(fact) {
          const { isFollowed, recorded } = recorder.appendFollowed(fact);
          if (!isFollowed) applyUnrecorded(fact);
          await recorded;
        },
      };
    },
  };
}
