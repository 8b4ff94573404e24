/** Counts the calls inside one call that failed, and without whose results its body goes on. calls.md 14.1. */
import {
  addFailed,
  endAround,
  failedBefore,
  makeAgain,
  noFailedCalls,
  takeOut,
  type FailedCalls,
  type IncompleteResult,
  type PlaceOfFailure,
} from '../../journal/facts/failed-calls.js';
import type { CallKey, OpPath } from '../../journal/ids.js';

export class UnresolvedInside {
  private readonly failures: FailedCalls<PlaceOfFailure> = noFailedCalls();
  private readonly incomplete: FailedCalls<IncompleteResult> = noFailedCalls();

  addFailed(failed: PlaceOfFailure): void {
    makeAgain(this.failures, failed); // it was made again, and has failed again
    addFailed(this.failures, failed);
  }

  /** Adds a reused result that was made without this many calls. It counts once, however often it is reused. */
  addIncomplete(result: IncompleteResult): void {
    addFailed(this.incomplete, result);
  }

  /** A call has a result. */
  makeAgain(key: CallKey, op: OpPath): void {
    makeAgain(this.failures, { key, op });
  }

  /** A call inside has ended without a result, and the body of `around` goes on. */
  endWithoutResult(op: OpPath, around: OpPath): void {
    for (const state of [this.failures, this.incomplete]) endAround(state, op, { hasResult: false, around });
  }

  /** The call at `around` is executed again: see `failedBefore`. */
  executeAgain(execution: { readonly op: OpPath; readonly around: OpPath }): void {
    for (const failed of failedBefore(this.failures, execution)) takeOut(this.failures, failed);
    for (const result of failedBefore(this.incomplete, execution)) takeOut(this.incomplete, result);
  }

  get count(): number {
    let count = 0;
    for (const failed of this.failures.byKey.values()) count += failed.size;
    for (const [result] of this.incomplete.byKey.values()) count += result?.calls ?? 0;
    return count;
  }
}
