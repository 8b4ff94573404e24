/** The port to what all calls of a run share: when they start, what they cost, and the settings that hold for all. */
import type { Usage } from '../../../journal/facts/call-event.js';
import type { Dispatcher } from '../../calls/dispatch/dispatcher.js';
import type { SharedBudgetGate } from '../../calls/budget/shared-gate.js';
import type { ReportFolder } from '../../calls/body-report.js';
import type { CallSettings } from '../../calls/options.js';
import type { SessionTotals } from '../../calls/price/session-totals.js';
import type { ReportedUsage } from '../../calls/replies/reply.js';
import type { Awaitable } from '../awaitable.js';

export interface CallRuntime {
  readonly settings: CallSettings;
  readonly dispatcher: Dispatcher;
  /** Undefined without a budget that runs share. */
  readonly sharedBudgets?: SharedBudgetGate | undefined;
  /** Undefined without a reply. `model` is what the command line or the option names, where a reply names none. */
  readonly price: (replies: readonly ReportedUsage[], model: string | undefined) => Awaitable<Usage | undefined>;
  /** The costs of the sessions of model programs. */
  readonly sessions: SessionTotals;
  /** The files in which programs report about their calls. */
  readonly reportFiles: ReportFolder;
  /** True the first time that it is asked about a topic: what many calls have in common is warned of once. */
  readonly isFirst: (topic: string) => boolean;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
}
