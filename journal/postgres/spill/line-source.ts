/** The side of a journal that its lines are reported to on their way into the database. */
import type { JournalError } from '../../errors.js';
import type { LateResult } from '../claims/late-results.js';

/** The journal whose lines these are. */
export interface LineSource {
  /** Appends what says that results are late, and hands over all that waits. The lines reach `write` before this returns. */
  supersede(late: readonly LateResult[]): void;
  /** Hands over all lines that wait. */
  handOver(): void;
  /** Called for results that are late, when the lines that say so were added here. */
  wereSuperseded(late: readonly LateResult[]): void;
  /** Called when the run takes nothing more. */
  refuseCalls(error: JournalError): void;
}
