/** Declares the outcome that a handler returns, its routing, and the errors that end a stage, a branch or a run. graph-pipelines.md 8.2. */
import type { Json } from '../../../journal/event.js';
import type { Routing, StageOutcome, StageStatus } from '../../../journal/facts/pipeline-event.js';

export type { Routing, StageOutcome, StageStatus } from '../../../journal/facts/pipeline-event.js';
export type Updates = { readonly [key: string]: Json };

export function outcomeOf(status: StageStatus, parts: Partial<Omit<StageOutcome, 'status'>> = {}): StageOutcome {
  return { status, preferred_label: '', suggested_next_ids: [], context_updates: {}, notes: '', failure_reason: '', ...parts };
}

export function routingOf({ status, preferred_label, suggested_next_ids, failure_reason }: Routing): Routing {
  return { status, preferred_label, suggested_next_ids, failure_reason };
}

/** Returns the routing that selects the next edge: a transparent outcome carries that of the stage before. */
export function effectiveRouting(outcome: StageOutcome): Routing {
  return outcome.carried ?? outcome;
}

/** The routing of a walk on which no stage has ended. */
export const INITIAL_ROUTING: Routing = { status: 'success', preferred_label: '', suggested_next_ids: [], failure_reason: '' };

/** Fails a stage. A transient error is retried while the budget lasts; `updates` reach the context all the same. graph-pipelines.md 14. */
export class StageError extends Error {
  constructor(
    readonly kind: 'transient' | 'permanent',
    reason: string,
    readonly updates: Updates = {},
  ) {
    super(reason);
    this.name = 'StageError';
  }
}

/** Ends the run as failed, whatever the edges say, because a limit was reached. */
export class PipelineError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PipelineError';
  }
}

/** Aborts the branches that a decided parallel node does not wait for. */
export const DECIDED = 'the parallel node is decided';

/** Ends a branch whose parallel node is decided; nothing of the node that was running in it is committed. */
export class BranchCancelled extends Error {
  constructor() {
    super('the branch was cancelled');
    this.name = 'BranchCancelled';
  }
}
