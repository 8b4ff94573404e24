/** Reads `calls` and `prices` of `mlld-config.json`. calls.md 10.4 and 11.4. */
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { parseBudget, type BudgetLimits } from '../calls/budget/limits.js';
import { DEFAULT_CALL_SETTINGS, type CallSettings, type LaneSettings, type Retries } from '../calls/options.js';
import { isRetries, RETRIES_WANTED } from '../calls/retries.js';
import type { OwnPrice } from '../calls/price/own-prices.js';
import { MlldError } from '../errors.js';
import { parseDuration } from '../values/durations.js';
import { withoutUndefined } from '../values/without-undefined.js';
import { invalid, isAmount, isBoolean, isCount, isText, optional, readSettings, setting, type SettingsTable } from './config-values.js';

const DURATION_WANTED = 'a duration: "500ms", "30s", "5m", "1h"';
const COUNT = setting(isCount, 'a whole number of at least 1');
const BOOLEAN = setting(isBoolean, 'true or false');

/** The members of `calls`, as the configuration names them. */
interface CallsObject {
  readonly retries: Retries;
  readonly timeout: number;
  readonly concurrency: number;
  readonly budget: BudgetLimits;
  readonly budgetStrict: boolean;
  readonly allowFailures: boolean;
  readonly waitQuota: number;
  readonly backoff: CallSettings['backoff'];
  readonly lanes: CallSettings['lanes'];
  readonly stallAfter: number;
  readonly files: CallSettings['files'];
}

export const CALL_SETTINGS: SettingsTable<CallsObject> = {
  retries: setting(isRetries, RETRIES_WANTED),
  timeout: positiveDuration,
  concurrency: COUNT,
  budget,
  budgetStrict: BOOLEAN,
  allowFailures: BOOLEAN,
  waitQuota: duration,
  backoff,
  lanes,
  stallAfter: positiveDuration,
  files,
};

export const BACKOFF_SETTINGS: SettingsTable<{ first: number; max: number }> = { first: duration, max: duration };

export const LANE_SETTINGS: SettingsTable<LaneSettings> = { max: COUNT, start: COUNT };

const MIB = setting(isPositive, 'a number of MiB above 0');
export const FILES_SETTINGS: SettingsTable<{ count: number; eachMiB: number; totalMiB: number }> = {
  count: COUNT,
  eachMiB: MIB,
  totalMiB: MIB,
};

const RATE = setting(isAmount, 'a number of US dollars for a million tokens, at least 0');
export const PRICE_SETTINGS: SettingsTable<OwnPrice> = { input: RATE, cachedInput: RATE, cacheWrite: RATE, output: RATE };

/** Undefined where the configuration says nothing about calls. Throws CONFIG_INVALID for a value of the wrong kind. */
export function callConfig(config: JsonObject): Partial<CallSettings> | undefined {
  const calls = optional(config, 'calls', isObject, 'an object');
  const prices = optional(config, 'prices', isObject, 'an object');
  if (calls === undefined && prices === undefined) return undefined;
  return withoutUndefined<Partial<CallSettings>>({ ...(calls && settingsIn(calls)), prices: prices && pricesIn(prices) });
}

function settingsIn(calls: JsonObject): { [S in keyof CallSettings]?: CallSettings[S] | undefined } {
  const { timeout: timeoutMs, waitQuota: waitQuotaMs, stallAfter: stallAfterMs, ...others } = readSettings(CALL_SETTINGS, calls, 'calls');
  return { ...others, timeoutMs, waitQuotaMs, stallAfterMs };
}

/** Returns what is kept of files that calls wrote. calls.md 22.3. */
function files(value: unknown, name: string): CallSettings['files'] {
  const { files: usual } = DEFAULT_CALL_SETTINGS;
  if (isBoolean(value)) return { ...usual, keep: value };
  if (!isObject(value)) throw invalid(name, 'true, false, or an object of limits: { "count": 20, "eachMiB": 10, "totalMiB": 50 }');
  const { count = usual.count, eachMiB, totalMiB } = readSettings(FILES_SETTINGS, value, name);
  const bytes = (mib: number | undefined): number | undefined => (mib === undefined ? undefined : Math.round(mib * 1024 * 1024));
  return { keep: true, count, eachBytes: bytes(eachMiB) ?? usual.eachBytes, totalBytes: bytes(totalMiB) ?? usual.totalBytes };
}

function isPositive(value: unknown): value is number {
  return isAmount(value) && value > 0;
}

function budget(value: unknown, name: string): BudgetLimits {
  const wanted = 'a list of limits: "5usd,2Mtok,300calls,3h"';
  if (!isText(value)) throw invalid(name, wanted);
  try {
    return parseBudget(value, name);
  } catch (cause) {
    if (!(cause instanceof MlldError)) throw cause;
    throw new MlldError('CONFIG_INVALID', `"${name}" in mlld-config.json is "${value}", and must be ${wanted}`, {
      cause,
      hint: cause.hint,
    });
  }
}

function backoff(value: unknown, name: string): CallSettings['backoff'] {
  if (!isObject(value)) throw invalid(name, 'an object: { "first": "1s", "max": "60s" }');
  const { firstMs, maxMs } = DEFAULT_CALL_SETTINGS.backoff;
  const { first = firstMs, max = Math.max(first, maxMs) } = readSettings(BACKOFF_SETTINGS, value, name);
  if (max < first) throw invalid(`${name}.max`, `at least as long as "${name}.first"`);
  return { firstMs: first, maxMs: max };
}

function lanes(value: unknown, name: string): CallSettings['lanes'] {
  if (!isObject(value)) throw invalid(name, 'an object of lanes: { "claude/*": { "max": 8, "start": 4 } }');
  return Object.entries(value).map(([pattern, limits]) => {
    const lane = `${name}.${pattern}`;
    if (!isObject(limits)) throw invalid(lane, 'an object: { "max": 8, "start": 4 }');
    return [pattern, readSettings(LANE_SETTINGS, limits, lane)] as const;
  });
}

function pricesIn(prices: JsonObject): CallSettings['prices'] {
  return Object.fromEntries(
    Object.entries(prices).map(([model, rates]) => {
      const name = `prices.${model}`;
      const wanted = 'an object of US dollars for a million tokens: { "input": 1, "cachedInput": 0.1, "cacheWrite": 1.25, "output": 5 }';
      if (!isObject(rates)) throw invalid(name, wanted);
      const { input, ...others } = readSettings(PRICE_SETTINGS, rates, name);
      if (input === undefined) throw invalid(`${name}.input`, 'given: US dollars for a million tokens');
      return [model, { input, ...others }];
    }),
  );
}

function positiveDuration(value: unknown, name: string): number {
  const ms = duration(value, name);
  if (ms === 0) throw invalid(name, `${DURATION_WANTED}, longer than 0`);
  return ms;
}

/** A text with a unit, or a number of milliseconds. */
function duration(value: unknown, name: string): number {
  const ms = typeof value === 'number' && Number.isFinite(value) ? value : isText(value) ? parseDuration(value) : undefined;
  if (ms === undefined || !(ms >= 0)) throw invalid(name, DURATION_WANTED);
  return ms;
}
