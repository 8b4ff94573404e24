/** Reads the flags about calls into settings. calls.md 11.4. */
import type { RunOptions } from '../../src/api/commands/script.js';
import { parseBudget } from '../../src/api/commands/words.js';
import { MlldError } from '../../src/errors.js';
import { durationMs } from './duration.js';

type CallSettings = NonNullable<RunOptions['calls']>;
type BudgetLimits = NonNullable<CallSettings['budget']>;

/** The words of the flags; undefined and false for those that were not given. */
export interface CallWords {
  readonly retries?: string | undefined;
  readonly callTimeout?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly budget?: string | undefined;
  readonly maxCalls?: string | undefined;
  readonly budgetStrict?: boolean | undefined;
  readonly allowFailures?: boolean | undefined;
  readonly waitQuota?: string | undefined;
}

/** Undefined when no flag says anything about calls. Throws USAGE, and BUDGET for a budget that can't be read. */
export function callSettings(words: CallWords): CallSettings | undefined {
  const { retries, callTimeout, concurrency, waitQuota, budgetStrict = false, allowFailures = false } = words;
  const budget = budgetOf(words);
  const forced = {
    ...(retries !== undefined && { retries: count(retries, 'retries', 0) }),
    ...(callTimeout !== undefined && { timeoutMs: durationMs(callTimeout, 'call-timeout') }),
  };
  const settings = {
    ...(Object.keys(forced).length > 0 && { forced }),
    ...(concurrency !== undefined && { concurrency: count(concurrency, 'concurrency', 1) }),
    ...(budget && { budget }),
    ...(budgetStrict && { budgetStrict }),
    ...(allowFailures && { allowFailures }),
    ...(waitQuota !== undefined && { waitQuotaMs: durationMs(waitQuota, 'wait-quota') }),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}

function budgetOf({ budget: text, maxCalls }: CallWords): BudgetLimits | undefined {
  const budget = text === undefined ? undefined : parseBudget(text, '--budget');
  if (maxCalls === undefined) return budget;
  const calls = count(maxCalls, 'max-calls', 1);
  if (budget?.calls === undefined) return { ...budget, calls };
  throw new MlldError('USAGE', `--max-calls ${maxCalls} and --budget ${text} both limit the calls`, { hint: 'give one of the two' });
}

function count(text: string, flag: string, least: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && Number.isSafeInteger(number)) return number;
  throw new MlldError('USAGE', `Invalid ${flag}: ${text}`, { hint: `--${flag} takes a whole number of at least ${least}` });
}
