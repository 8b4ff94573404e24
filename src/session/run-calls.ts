/** Declares what the report of a run says about its calls, and about what is left to do. calls.md 14. */
import type { Pause } from '../../journal/facts/run-event.js';
import type { CallCounts } from '../../replay/fold/calls/call-counts.js';
import type { CallCause } from '../../replay/fold/calls/failure-class.js';

/** The calls of a run as its report has them; the members are those of `journal list --json`. */
export interface RunCalls extends Readonly<Omit<CallCounts, 'callsMs'>> {
  /** Executed, reused, failed, denied and not executed ones together. */
  readonly total: number;
  /** Unresolved calls by the class of their last attempt; those that were not executed have the class `upstream`. */
  readonly unresolvedByClass: { readonly [cause in CallCause]?: number };
  /** Those of `unresolved` without which the calls around them have a result in this run. Absent: none. */
  readonly unresolvedInResults?: number;
  /** Calls without a result inside those whose results were reused: they failed in earlier runs. Absent: none. */
  readonly unresolvedInside?: number;
  /** The model that most attempts used. */
  readonly model: string | null;
  /** Those of `reused` that workers have executed for this run, and what they cost there. Absent: none. */
  readonly atWorkers?: { readonly calls: number; readonly costUsd: number | null };
  /** Calls that failed at workers, accepted ones too, and what their attempts cost there. Absent: none. */
  readonly failedAtWorkers?: { readonly calls: number; readonly costUsd: number | null };
  /** Those of `executed` whose result is not used, because another run's was recorded first, and what they cost. Absent: none. */
  readonly superseded?: { readonly calls: number; readonly costUsd: number | null };
  /** US dollars above the budget; absent where the run kept to it. */
  readonly overBudgetUsd?: number;
  /** Tokens above the budget; absent where the run kept to it. */
  readonly overBudgetTokens?: number;
}

/** The calls without a result that a completed pipeline has left. */
export interface CallsLeft {
  /** Those that a run from the start makes again. */
  readonly unresolved: number;
  /** Those without which the calls around them have a result, which such a run reuses. */
  readonly inResults: number;
}

export interface RunOutcome {
  /** The calls of the run, recorded or not. Absent when it made none. */
  readonly calls?: RunCalls;
  /** Says why a paused run was paused. */
  readonly pause?: Pause;
  /**
   * Continues the run: the target for `cache.resume` of the next one. `failed` when only unresolved calls are left, else the empty
   * text; absent when nothing is left, or nothing was recorded.
   */
  readonly resume?: 'failed' | '';
}
