/** The state of the count of calls: `call-ledger.ts`. */
import { noFailedCalls, type FailedCalls, type IncompleteResult, type PlaceOfFailure } from '../../../journal/facts/failed-calls.js';
import type { CallKey, OpPath } from '../../../journal/ids.js';
import { noCalls, type CallCounts } from './call-counts.js';
import type { EndedCall } from './ended-call.js';
import { noStageRetries, type StageRetries } from './stage-retries.js';

export interface AttemptInFlight {
  readonly key: CallKey;
  readonly fn: string;
  readonly lane: string | undefined;
  readonly attempt: number | undefined;
  /** An after-guard requested it: the call around counts. */
  readonly isRequested: boolean;
  readonly isRetry: boolean;
  readonly groups: readonly CallCounts[];
  /** The cost of the attempts of this call that have ended; undefined where that of one is not known. */
  spentUsd: number | undefined;
  /** It failed, and another one was to follow: the call has not ended. */
  hasFailed: boolean;
  /** Its result came back, here or in an earlier execution, and guards judge it: its cost is counted. */
  isPriced?: true;
  /** The time and the cost that were counted when its result came back. */
  received?: EndedCall;
  /** Guards judge the result of an earlier execution: it is no attempt. */
  readonly isJudging?: true;
  /** A guard requested a further execution. */
  isRepeated?: true;
}

export interface FailedCall extends PlaceOfFailure {
  end: EndedCall;
  readonly groups: readonly CallCounts[];
}

/** The state of the count. Memory is in proportion to what is in flight and what failed. */
export interface CallLedger {
  readonly total: CallCounts;
  /** By the name of the function; empty where the line that named it is damaged. */
  readonly functions: Map<string, CallCounts>;
  /** Attempts by the model that they reported. */
  readonly models: Map<string, number>;
  readonly attempts: Map<OpPath, AttemptInFlight>;
  /** Failed calls that were not made again. */
  readonly failures: FailedCalls<FailedCall>;
  /** Reused results that were made without calls inside. */
  readonly incomplete: FailedCalls<IncompleteResult>;
  /** Failed executions that guards requested, by the call around them, which has not ended. */
  readonly requested: Map<OpPath, FailedCall[]>;
  readonly stages: StageRetries<FailedCall>;
  /**
   * The unresolved calls that earlier runs have left: in the chain of a pipeline, and inside calls whose results are reused. They are in no
   * other count.
   */
  unresolvedBefore: number;
  /** The part of it that is inside calls whose results this run reuses. */
  unresolvedReused: number;
}

export function emptyLedger(): CallLedger {
  return {
    total: noCalls(),
    functions: new Map(),
    models: new Map(),
    attempts: new Map(),
    failures: noFailedCalls(),
    incomplete: noFailedCalls(),
    requested: new Map(),
    stages: noStageRetries(),
    unresolvedBefore: 0,
    unresolvedReused: 0,
  };
}
