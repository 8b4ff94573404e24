/** Decides the settings of a run's calls. calls.md 11.4. */
import type { Script } from '../../../grammar/ast.js';
import type { RecordedCallSettings } from '../../../journal/facts/run-event.js';
import { parseBudget, type BudgetLimits } from '../../calls/budget/limits.js';
import { DEFAULT_CALL_SETTINGS, type CallSettings } from '../../calls/options.js';
import { MlldError } from '../../errors.js';
import type { Module } from '../../runtime/module.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { RunOptions } from './run-options.js';

/** Takes each setting from the first that has it: command line, header of the script, configuration, default. */
export function callSettings({ calls, project }: Pick<RunOptions, 'calls' | 'project'>, header?: BudgetLimits): CallSettings {
  return { ...DEFAULT_CALL_SETTINGS, ...project.config.calls, ...(header && { budget: header }), ...calls };
}

/** Reads the budget in the header of a script. Throws BUDGET with its place. */
export function headerBudget({ budget }: Script, { display, text }: Pick<Module, 'display' | 'text'>): BudgetLimits | undefined {
  if (budget === undefined) return undefined;
  try {
    return parseBudget(budget.value, 'budget');
  } catch (cause) {
    if (!(cause instanceof MlldError)) throw cause;
    throw new MlldError('BUDGET', cause.message, { location: { file: display, at: budget.at, text }, hint: cause.hint, cause });
  }
}

/** Returns the settings in force as `run.started` records them; nothing when all are usual. */
export function recordedCallSettings(settings: CallSettings): { readonly calls?: RecordedCallSettings } {
  const { forced, budget, budgetStrict, concurrency, allowFailures, waitQuotaMs } = settings;
  const retries = forced?.retries ?? (typeof settings.retries === 'number' ? settings.retries : undefined);
  const recorded = withoutUndefined<RecordedCallSettings>({
    budget,
    budgetStrict: budgetStrict || undefined,
    concurrency,
    retries,
    timeoutMs: forced?.timeoutMs ?? settings.timeoutMs,
    allowFailures: allowFailures || undefined,
    waitQuotaMs,
  });
  return Object.keys(recorded).length === 0 ? {} : { calls: recorded };
}
