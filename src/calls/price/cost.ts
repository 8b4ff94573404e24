/** Determines the cost of an attempt from its reply, else from a table of prices; an unknown cost is never 0. calls.md 10.1 to 10.4. */
import { addUsd } from '../../../journal/facts/add-usd.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { ReportedUsage } from '../replies/reply.js';
import { addUsage, byLargestCost, COST_USD_MAX } from '../usage.js';

export interface Price {
  readonly costUsd: number;
  /** The row that matched. */
  readonly priceModel: string;
  /** The tokens are those of several requests, and the price depends on the size of each: all are taken for equally large. */
  readonly isMean?: true;
}

export interface PriceTable {
  /** As it is recorded: `genai-prices@0.1.8`, `mlld-config`. */
  readonly name: string;
  /** Returns undefined for a model without a row. All input tokens are given, the cached and written ones among them. */
  priceOf(usage: ReportedUsage, model: string, provider: string | undefined): Price | undefined;
}

export interface CostedUsage extends ReportedUsage {
  readonly costSource: 'told' | 'table' | 'unknown';
  readonly priceTable?: string;
  readonly priceModel?: string;
  /** The price is of a model that is not quite the one that was called. */
  readonly estimated?: true;
}

/** `model` is what the command line or the option of the function names, where the reply names none. Tables are tried in their order. */
export interface PricedBy {
  readonly model?: string;
  readonly tables: readonly PriceTable[];
}

/**
 * Prices each reply of an attempt by itself; undefined without one. Where some told a cost, one that has no price is left out of the sum,
 * which then is an estimate; a told 0 is none, so that an unknown cost never becomes 0.
 */
export function costOfReplies(replies: readonly ReportedUsage[], by: PricedBy): CostedUsage | undefined {
  const costed = replies.map((usage) => withoutRequests(costOf(usage, by)));
  if (costed.length < 2) return costed[0];
  const told = costed.filter(({ costSource }) => costSource === 'told');
  const hasUnknown = costed.some((usage) => usage.costSource === 'unknown' && hasTokensIn(usage));
  if (hasUnknown && !told.some(({ costUsd = 0 }) => costUsd > 0)) return { ...sumOf(costed.map(withoutCost)), costSource: 'unknown' };
  const sum = sumOf(costed);
  const { priceTable, priceModel } = costed.findLast(({ costSource }) => costSource === 'table') ?? {};
  return withoutUndefined<CostedUsage>({
    ...sum,
    costSource: priceTable !== undefined ? 'table' : told.length > 0 ? 'told' : 'unknown',
    priceTable,
    priceModel,
    estimated: hasUnknown ? true : sum.estimated,
  });
}

/** Only prices need them. */
function withoutRequests<U extends ReportedUsage>({ requests: _requests, ...usage }: U): Omit<U, 'requests'> {
  return usage.models ? { ...usage, models: usage.models.map(withoutRequests) } : usage;
}

const sumOf = (parts: readonly ReportedUsage[]): ReportedUsage => parts.reduce(addUsage);

function withoutCost({ costUsd: _cost, costSource: _source, priceTable: _table, priceModel: _row, ...usage }: CostedUsage): ReportedUsage {
  return usage;
}

/** True where a table of prices might tell what the reply did not. */
export function lacksPrice(usage: CostedUsage, model: string | undefined): boolean {
  if (usage.costSource !== 'unknown') return isToldInPart(usage);
  return (model ?? usage.model ?? usage.models) !== undefined && usage.inputTokens !== undefined;
}

export function costOf(usage: ReportedUsage, { model, tables }: PricedBy): CostedUsage {
  const { costUsd, ...rest } = usage;
  if (isToldInPart(usage)) return pricedInPart(usage, tables);
  const hasTokens = hasTokensIn(usage);
  if (costUsd !== undefined && (costUsd > 0 || !hasTokens)) return { ...usage, costSource: 'told' };
  const priced = pricesOf(usage, model, tables);
  // A reported 0 beside tokens is believed only where the table says 0 as well.
  if (costUsd === 0 && priced?.costUsd === 0) return { ...usage, costSource: 'told' };
  const named = usage.model === undefined && model !== undefined ? { ...rest, model } : rest;
  return priced ? { ...named, ...priced, costSource: 'table' } : { ...named, costSource: 'unknown' };
}

/** Reports of several models, of which only some told their cost. */
function isToldInPart({ costUsd, models = [] }: ReportedUsage): boolean {
  if (costUsd === undefined || !models.some((part) => part.costUsd === undefined && hasTokensIn(part))) return false;
  const told = models.reduce((sum, part) => sum + (part.costUsd ?? 0), 0);
  return told > 0 && Math.abs(costUsd - told) < ROUNDING_USD; // a reply may tell the cost of all its models, and of each only of some
}

/** A part without a price is left out of the sum, which then is an estimate. */
function pricedInPart({ models = [], provider, ...rest }: ReportedUsage, tables: readonly PriceTable[]): CostedUsage {
  let last: Priced | undefined;
  let isEstimated = rest.estimated === true;
  const parts = models.map((part) => {
    if (part.costUsd !== undefined || !hasTokensIn(part)) return part;
    const priced = priceOf(part, part.model, part.provider ?? provider, tables);
    last = priced ?? last;
    isEstimated ||= priced === undefined || priced.estimated === true;
    return priced ? { ...part, costUsd: priced.costUsd } : part;
  });
  const sorted = byLargestCost(parts);
  const costUsd = parts.reduce((sum, part) => addUsd(sum, part.costUsd ?? 0), 0);
  const [{ model } = rest] = sorted;
  const { priceTable, priceModel } = last ?? {};
  return withoutUndefined<CostedUsage>({
    ...rest,
    model,
    provider: sorted[0]?.provider ?? provider,
    models: sorted,
    costUsd,
    costSource: last ? 'table' : 'told',
    priceTable,
    priceModel,
    estimated: isEstimated ? true : undefined,
  });
}

const hasTokensIn = ({ inputTokens = 0, outputTokens = 0 }: ReportedUsage): boolean => inputTokens + outputTokens > 0;

/** Sums of fractions are off by less. */
const ROUNDING_USD = 1e-9;

type Priced = Required<Pick<CostedUsage, 'costUsd' | 'priceTable' | 'priceModel'>> & Pick<CostedUsage, 'estimated' | 'model' | 'models'>;

/** Each model by its own row, where the reply has a usage for each; undefined when one of them has none. */
function pricesOf(usage: ReportedUsage, model: string | undefined, tables: readonly PriceTable[]): Priced | undefined {
  const parts = (usage.models ?? [usage]).map((part) => priceOf(part, part.model ?? model, part.provider ?? usage.provider, tables));
  const [first] = parts;
  if (!first || parts.includes(undefined)) return undefined;
  const isEstimated = parts.some((part) => part?.estimated);
  const costUsd = parts.reduce((sum, part) => addUsd(sum, part?.costUsd ?? 0), 0);
  const estimated = isEstimated ? { estimated: true as const } : {};
  if (!usage.models) return { ...first, costUsd, ...estimated };
  const models = byLargestCost(usage.models.map((part, i) => ({ ...part, costUsd: parts[i]?.costUsd ?? 0 })));
  return { ...first, costUsd, ...estimated, models, ...(models[0]?.model !== undefined && { model: models[0].model }) };
}

function priceOf(
  usage: ReportedUsage,
  model: string | undefined,
  provider: string | undefined,
  tables: readonly PriceTable[],
): Priced | undefined {
  if (model === undefined || usage.inputTokens === undefined) return undefined;
  for (const table of tables) {
    const price = table.priceOf(usage, model, provider);
    if (price && price.costUsd > COST_USD_MAX) return undefined; // the row is a mistake
    if (!price) continue;
    const { isMean, ...priced } = price;
    return { ...priced, priceTable: table.name, ...(isMean || !isSameModel(model, price.priceModel) ? { estimated: true as const } : {}) };
  }
  return undefined;
}

/** Apart from a provider in front, a date behind, the mark of a larger window, and the `*` of a row that is there for all dates. */
function isSameModel(called: string, priced: string): boolean {
  const bare = (model: string): string =>
    model
      .toLowerCase()
      .replace(/^.*\//, '')
      .replace(/\[1m\]$/, '')
      .replace(/\*$/, '')
      .replace(/[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest)$/, '');
  return bare(called) === bare(priced);
}
