/** Folds the phases of the operations in flight: those of the calls of a workflow script. workflows-js.md 11. */
import type { OpPath } from '../../journal/ids.js';
import type { Projection } from '../fold/projection.js';

export type CallPhases = Map<OpPath, string>;

export const callPhases: Projection<CallPhases> = {
  initial: () => new Map(),
  apply(state, event) {
    if (event.type === 'op.started' && event.group !== undefined) state.set(event.op, event.group);
    if (event.type === 'op.finished' && state.size > 0) state.delete(event.op);
    return state;
  },
};
