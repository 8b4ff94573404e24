/** Folds which result a run used at one path: of the calls that were made there one after the other, the last. */
import type { CallKey, EventRef, OpPath, Workflow } from '../../journal/ids.js';
import type { Projection } from '../fold/projection.js';

export interface ResultAtPath {
  /** The last call at the path; undefined where the run made none. */
  call: { readonly op: OpPath; readonly key: CallKey } | undefined;
  /** The event that holds the result; undefined where the call has none. `workflow` is that of a fork source. */
  from: (EventRef & { readonly workflow?: Workflow }) | undefined;
}

/** Folds the events of one run. */
export function resultAtPath(path: string): Projection<ResultAtPath> {
  return {
    initial: () => ({ call: undefined, from: undefined }),
    apply(state, event, { ref }) {
      if (!('op' in event) || event.op !== path) return state;
      switch (event.type) {
        case 'call.started':
        case 'call.failed':
          state.call = event;
          state.from = undefined;
          return state;
        case 'call.completed':
          state.call = event;
          state.from = event.unusable === undefined && !('redacted' in event.result) ? { run: ref.run, seq: event.seq } : undefined;
          return state;
        case 'call.reused':
          state.call = event;
          state.from = event.from;
          return state;
        default:
          return state;
      }
    },
  };
}
