/** What a handler returns: how the stage ended, where it wants to go, what it found. graph-pipelines.md 8.2. */
import type { Json } from '../../../journal/event.js';
import type { Routing, StageOutcome, StageStatus } from '../../../journal/pipeline-event.js';

export type { Routing, StageOutcome, StageStatus } from '../../../journal/pipeline-event.js';
export type Updates = { readonly [key: string]: Json };

export function outcomeOf(status: StageStatus, parts: Partial<Omit<StageOutcome, 'status'>> = {}): StageOutcome {
  return { status, preferred_label: '', suggested_next_ids: [], context_updates: {}, notes: '', failure_reason: '', ...parts };
}

export function routingOf({ status, preferred_label, suggested_next_ids, failure_reason }: Routing): Routing {
  return { status, preferred_label, suggested_next_ids, failure_reason };
}

/** What decides where the walk goes: of a transparent outcome that is what it carries. */
export function effectiveRouting(outcome: StageOutcome): Routing {
  return outcome.carried ?? outcome;
}

/** Of a walk on which nothing has ended yet. */
export const INITIAL_ROUTING: Routing = { status: 'success', preferred_label: '', suggested_next_ids: [], failure_reason: '' };

/**
 * What a stage broke with. Transient ones are tried again while the budget lasts. `updates` are what the stage found all the same.
 * graph-pipelines.md 14.
 */
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

/** Ends the run as failed, whatever the edges say: a limit was reached, or the graph broke a promise. */
export class PipelineError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PipelineError';
  }
}

/** A branch that was called off while it ran; nothing of the node that ran in it is committed. */
export class BranchCancelled extends Error {
  constructor() {
    super('the branch was called off');
    this.name = 'Cancelled';
  }
}
