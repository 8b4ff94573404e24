import type { BranchRef, PipelineFact } from '../../../journal/facts/pipeline-event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { StateView, WalkView } from './state-view.js';

/** Records the facts of a run and keeps its state current, also when the journal can no longer be written. */
export interface Ledger {
  readonly state: StateView;
  /** Returns a walk on which nothing has happened yet: the state has a branch only from its first fact on. */
  emptyWalk(path: OpPath, context: WalkView['context'], branch: BranchRef): WalkView;
  post(fact: PipelineFact): void;
  /** Resolves when the fact is as durable as its type promises. The state has it before that. */
  append(fact: PipelineFact): Promise<void>;
}
