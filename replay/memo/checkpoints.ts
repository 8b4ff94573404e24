/** Named points of a run, what it had used when it reached them, and how their `complete` came out. */
import type { CallKey, Seq } from '../../journal/ids.js';
import type { Projection } from '../fold/projection.js';

export interface ReachedCheckpoint {
  readonly name: string;
  readonly seq: Seq;
  readonly resume?: 'auto' | 'manual' | 'never' | undefined;
  readonly ttlMs?: number | undefined;
  /** It has an option `complete`. */
  readonly conditional?: true | undefined;
  /** The number of entries of `used` that the run had used before it reached the checkpoint. */
  readonly usedBefore: number;
}

export interface Checkpoints {
  /** In the order in which they were reached. */
  readonly reached: ReachedCheckpoint[];
  /** Keys of results, executed or reused, in the order of their first use. */
  readonly used: Set<CallKey>;
}

/** Folds the events of one run. */
export const checkpoints: Projection<Checkpoints> = {
  initial: () => ({ reached: [], used: new Set() }),
  apply(state, event) {
    switch (event.type) {
      case 'call.completed':
      case 'call.reused':
        state.used.add(event.key);
        return state;
      case 'checkpoint.reached':
        state.reached.push({ name: event.name, seq: event.seq, resume: event.resume, ttlMs: event.ttlMs, usedBefore: state.used.size });
        return state;
      default:
        return state;
    }
  },
};

/** The results that the run used before it reached the checkpoint. */
export function usedBefore({ used }: Checkpoints, { usedBefore }: ReachedCheckpoint): Set<CallKey> {
  return new Set([...used].slice(0, usedBefore));
}

/** Checkpoint name -> its last evaluation of `complete`, over all runs of a workflow. */
export type Completeness = Map<string, boolean>;

export const completeness: Projection<Completeness> = {
  initial: () => new Map(),
  apply(state, event) {
    if (event.type === 'checkpoint.closed' && event.complete !== undefined) state.set(event.name, event.complete);
    if (event.type === 'memo.reset' && event.reason === 'clean') state.clear();
    return state;
  },
};
