/** Says of the options about calls which values they take, as far as a value needs no run to be judged. calls.md 11.1. */
import { isObject } from '../../journal/json-object.js';
import { MlldError } from '../errors.js';
import { parseDuration } from '../values/durations.js';
import { withoutUndefined } from '../values/without-undefined.js';
import type { Cost } from './budget/budget.js';
import { parseBudget } from './budget/limits.js';
import { isRetries, RETRIES_WANTED } from './retries.js';

interface OptionValues {
  readonly takes: (value: unknown) => boolean;
  readonly wanted: string;
  /** The words that it takes, where it takes nothing else. */
  readonly words?: readonly string[];
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const oneOf = (...words: readonly string[]): OptionValues => ({
  takes: (value) => words.some((word) => word === value),
  wanted: words.map((word) => `"${word}"`).join(', '),
  words,
});
const BOOLEAN: OptionValues = { takes: (value) => typeof value === 'boolean', wanted: 'true or false' };
const TEXT: OptionValues = { takes: isText, wanted: 'a text' };

export const COST_WANTED = 'a number of dollars, "0.5usd" or "200ktok"';
const ADAPTERS = oneOf('claude', 'codex', 'gemini', 'opencode', 'openai', 'anthropic', 'text');

const VALUES: { readonly [name: string]: OptionValues } = {
  reply: { ...ADAPTERS, wanted: `${ADAPTERS.wanted}, or a function` },
  schema: {
    takes: (value) => isObject(value) || typeof value === 'boolean' || isText(value),
    wanted: 'a JSON Schema, or the path of a file with one',
  },
  repair: BOOLEAN,
  partial: BOOLEAN,
  retries: { takes: isRetries, wanted: RETRIES_WANTED },
  timeout: { takes: isDuration, wanted: 'a duration: 500ms, 30s, 5m, 1h, or a number of milliseconds' },
  lane: TEXT,
  model: TEXT,
  maxCost: { takes: (value) => costIn(value) !== undefined, wanted: COST_WANTED },
  onFailure: oneOf('error', 'marker', 'value'),
  files: oneOf('keep', 'ignore'),
};

/** Undefined for a value that the option takes, and for an option that has no rule of its own; null leaves an option out. */
export function refusedValue(name: string, value: unknown): Pick<OptionValues, 'wanted' | 'words'> | undefined {
  const values = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  return values === undefined || value === null || values.takes(value) ? undefined : values;
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' ? value >= 0 : typeof value === 'string' && parseDuration(value) !== undefined;
}

/** Returns the cost that `0.5usd`, `200ktok`, or a number of dollars says; undefined for anything else. */
export function costIn(value: unknown): Cost | undefined {
  if (typeof value === 'number') return value > 0 && Number.isFinite(value) ? { usd: value } : undefined;
  if (typeof value !== 'string') return undefined;
  try {
    const { usd, tokens, calls, ms, shared } = parseBudget(value, 'maxCost');
    const isCost = calls === undefined && ms === undefined && shared === undefined;
    return isCost ? withoutUndefined<Cost>({ usd, tokens }) : undefined;
  } catch (error) {
    if (error instanceof MlldError) return undefined;
    throw error;
  }
}
