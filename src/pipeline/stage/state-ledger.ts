import type { PipelineFact } from '../../../journal/pipeline-event.js';
import type { StateView } from './state-view.js';

/** Records the facts of a run and keeps its state current, also when the journal can no longer be written. */
export interface Ledger {
  readonly state: StateView;
  post(fact: PipelineFact): void;
  /** Resolves when the fact is as durable as its type promises. The state has it before that. */
  append(fact: PipelineFact): Promise<void>;
}
