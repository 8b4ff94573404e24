/** Creates what all calls of a run share. */
import { SharedBudgetGate } from '../../calls/budget/shared-gate.js';
import { Dispatcher } from '../../calls/dispatch/dispatcher.js';
import type { RunAround } from '../../calls/dispatch/ports.js';
import type { CallSettings } from '../../calls/options.js';
import type { PriceTable } from '../../calls/price/cost.js';
import { SessionTotals } from '../../calls/price/session-totals.js';
import { createPricing } from '../../calls/price/pricing.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import { randomFraction } from '../../world/host.js';
import { ReportFiles } from '../../world/process/report-files.js';
import type { RunIo } from './run-options.js';

interface CallParts {
  readonly settings: CallSettings;
  readonly io: Pick<RunIo, 'monotonicMs' | 'nowMs' | 'stderr'>;
  /** Ends the run, whose status is then `paused`. */
  readonly pause: () => void;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  readonly isServing?: boolean;
  /** That of the run around a child run, whose budget both spend. */
  readonly around?: RunAround | undefined;
}

export function createCallRuntime({ settings, io, pause, signal, isServing, around }: CallParts): CallRuntime {
  const { nowMs, monotonicMs, stderr } = io;
  const topics = new Set<string>();
  const dispatcher = new Dispatcher({ settings, monotonicMs, nowMs, random: randomFraction, pause, signal, isServing, around });
  const { budget, budgetStrict: isStrict = false } = settings;
  return {
    settings,
    dispatcher,
    sharedBudgets: budget?.shared && new SharedBudgetGate({ names: budget.shared, isStrict, dispatcher }),
    price: createPricing({
      own: settings.prices,
      loadTable,
      warn: (message) =>
        stderr(`warning: ${message}
`),
    }),
    sessions: new SessionTotals(),
    reportFiles: new ReportFiles(),
    isFirst: (topic) => topics.size < topics.add(topic).size,
    nowMs,
    random: randomFraction,
  };
}

async function loadTable(): Promise<PriceTable> {
  const { genaiPrices } = await import('../../calls/price/genai-prices.js');
  return genaiPrices();
}
