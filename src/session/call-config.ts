/** Reads `calls` and `prices` of `mlld-config.json`. calls.md 10.4 and 11.4. */
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { parseBudget, type BudgetLimits } from '../calls/budget/limits.js';
import { DEFAULT_CALL_SETTINGS, type CallSettings, type LaneSettings, type Retries } from '../calls/options.js';
import { isRetries, RETRIES_WANTED } from '../calls/retries.js';
import type { OwnPrice } from '../calls/price/own-prices.js';
import { MlldError } from '../errors.js';
import { parseDuration } from '../values/durations.js';
import { withoutUndefined } from '../values/without-undefined.js';
import { invalid, isAmount, isBoolean, isCount, isText, optional } from './config-values.js';

const CALLS = 'calls';
const DURATION_WANTED = 'a duration: "500ms", "30s", "5m", "1h"';

/** Undefined where the configuration says nothing about calls. Throws CONFIG_INVALID for a value of the wrong kind. */
export function callConfig(config: JsonObject): Partial<CallSettings> | undefined {
  const calls = optional(config, CALLS, isObject, 'an object');
  const prices = optional(config, 'prices', isObject, 'an object');
  if (calls === undefined && prices === undefined) return undefined;
  return withoutUndefined<Partial<CallSettings>>({ ...(calls && settingsIn(calls)), prices: prices && pricesIn(prices) });
}

function settingsIn(calls: JsonObject): { [S in keyof CallSettings]?: CallSettings[S] | undefined } {
  return {
    retries: optional(calls, 'retries', isRetries, RETRIES_WANTED, CALLS) satisfies Retries | undefined,
    timeoutMs: positive(calls, 'timeout', CALLS),
    concurrency: optional(calls, 'concurrency', isCount, 'a whole number of at least 1', CALLS),
    budget: budgetIn(calls),
    budgetStrict: optional(calls, 'budgetStrict', isBoolean, 'true or false', CALLS),
    allowFailures: optional(calls, 'allowFailures', isBoolean, 'true or false', CALLS),
    waitQuotaMs: duration(calls, 'waitQuota', CALLS),
    backoff: backoffIn(calls),
    lanes: lanesIn(calls),
    stallAfterMs: positive(calls, 'stallAfter', CALLS),
    files: filesIn(calls),
  };
}

/** Returns what is kept of files that calls wrote. calls.md 22.3. */
function filesIn(calls: JsonObject): CallSettings['files'] | undefined {
  const wanted = 'true, false, or an object of limits: { "count": 20, "eachMiB": 10, "totalMiB": 50 }';
  const is = (value: unknown): value is boolean | JsonObject => isBoolean(value) || isObject(value);
  const files = optional(calls, 'files', is, wanted, CALLS);
  if (files === undefined) return undefined;
  const { files: usual } = DEFAULT_CALL_SETTINGS;
  if (isBoolean(files)) return { ...usual, keep: files };
  const bytes = (key: string): number | undefined => {
    const size = optional(files, key, isPositive, 'a number of MiB above 0', 'calls.files');
    return size === undefined ? undefined : Math.round(size * 1024 * 1024);
  };
  return {
    keep: true,
    count: optional(files, 'count', isCount, 'a whole number of at least 1', 'calls.files') ?? usual.count,
    eachBytes: bytes('eachMiB') ?? usual.eachBytes,
    totalBytes: bytes('totalMiB') ?? usual.totalBytes,
  };
}

const isPositive = (value: unknown): value is number => isAmount(value) && value > 0;

function budgetIn(calls: JsonObject): BudgetLimits | undefined {
  const wanted = 'a list of limits: "5usd,2Mtok,300calls,3h"';
  const text = optional(calls, 'budget', isText, wanted, CALLS);
  if (text === undefined) return undefined;
  try {
    return parseBudget(text, 'calls.budget');
  } catch (cause) {
    if (!(cause instanceof MlldError)) throw cause;
    throw new MlldError('CONFIG_INVALID', `"calls.budget" in mlld-config.json is "${text}", and must be ${wanted}`, {
      cause,
      hint: cause.hint,
    });
  }
}

function backoffIn(calls: JsonObject): CallSettings['backoff'] | undefined {
  const backoff = optional(calls, 'backoff', isObject, 'an object: { "first": "1s", "max": "60s" }', CALLS);
  if (backoff === undefined) return undefined;
  const { firstMs, maxMs } = DEFAULT_CALL_SETTINGS.backoff;
  const first = duration(backoff, 'first', 'calls.backoff') ?? firstMs;
  const most = duration(backoff, 'max', 'calls.backoff') ?? Math.max(first, maxMs);
  if (most < first) throw invalid('calls.backoff.max', 'at least as long as "calls.backoff.first"');
  return { firstMs: first, maxMs: most };
}

function lanesIn(calls: JsonObject): CallSettings['lanes'] | undefined {
  const wanted = 'an object of lanes: { "claude/*": { "max": 8, "start": 4 } }';
  const lanes = optional(calls, 'lanes', isObject, wanted, CALLS);
  return (
    lanes &&
    Object.entries(lanes).map(([pattern, limits]) => {
      const name = `calls.lanes.${pattern}`;
      if (!isObject(limits)) throw invalid(name, 'an object: { "max": 8, "start": 4 }');
      const limit = (key: string): number | undefined => optional(limits, key, isCount, 'a whole number of at least 1', name);
      return [pattern, withoutUndefined<LaneSettings>({ max: limit('max'), start: limit('start') })] as const;
    })
  );
}

function pricesIn(prices: JsonObject): CallSettings['prices'] {
  return Object.fromEntries(
    Object.entries(prices).map(([model, rates]) => {
      const name = `prices.${model}`;
      const wanted = 'an object of US dollars for a million tokens: { "input": 1, "cachedInput": 0.1, "cacheWrite": 1.25, "output": 5 }';
      if (!isObject(rates)) throw invalid(name, wanted);
      const rate = (key: string): number | undefined =>
        optional(rates, key, isAmount, 'a number of US dollars for a million tokens, at least 0', name);
      const input = rate('input');
      if (input === undefined) throw invalid(`${name}.input`, 'given: US dollars for a million tokens');
      const price = { input, cachedInput: rate('cachedInput'), cacheWrite: rate('cacheWrite'), output: rate('output') };
      return [model, withoutUndefined<OwnPrice>(price)];
    }),
  );
}

function positive(object: JsonObject, key: string, within: string): number | undefined {
  const ms = duration(object, key, within);
  if (ms === 0) throw invalid(`${within}.${key}`, `${DURATION_WANTED}, longer than 0`);
  return ms;
}

/** A text with a unit, or a number of milliseconds. */
function duration(object: JsonObject, key: string, within: string): number | undefined {
  const value = object[key];
  if (value === undefined) return undefined;
  const ms = typeof value === 'number' && Number.isFinite(value) ? value : isText(value) ? parseDuration(value) : undefined;
  if (ms === undefined || !(ms >= 0)) throw invalid(`${within}.${key}`, DURATION_WANTED);
  return ms;
}
