/** Wraps `@pydantic/genai-prices`: the prices of its installed version, never fetched. calls.md 10.3. */
import { calcPrice, findProvider, type PriceCalculation } from '@pydantic/genai-prices';
import type { ReportedUsage } from '../replies/reply.js';
import type { Price, PriceTable } from './cost.js';

/** As it is recorded. A test compares it with the installed version. */
const TABLE_NAME = 'genai-prices@0.1.8';

type Row = Pick<PriceCalculation, 'provider' | 'model'>;

/** Holds the rows that were found, because a search goes through all models of a provider. */
export function genaiPrices(): PriceTable {
  const rows = new Map<string, Row | undefined>();
  const rowOf = (model: string, provider: string | undefined): Row | undefined => {
    const name = `${provider ?? ''}\n${model}`;
    if (!rows.has(name)) rows.set(name, findRow(model, provider));
    return rows.get(name);
  };
  return {
    name: TABLE_NAME,
    priceOf(usage, model, provider): Price | undefined {
      const row = rowOf(model, provider);
      if (!row) return undefined;
      const only = { ...row.provider, models: [row.model] };
      const priceModel = row.model.id;
      const priceFor = (part: ReportedUsage): number | undefined => calcPrice(tokensOf(part), priceModel, { provider: only })?.total_price;
      const costUsd = priceFor(usage);
      if (costUsd === undefined) return undefined;
      const { requests = 1 } = usage;
      const meanUsd = requests > 1 ? (priceFor(meanOf(usage, requests)) ?? 0) * requests : costUsd;
      // Rates are higher for a request with more tokens than a limit, and no request had all of these.
      return costUsd - meanUsd > costUsd * ROUNDING ? { costUsd: meanUsd, priceModel, isMean: true } : { costUsd, priceModel };
    },
  };
}

/** Finds the row of a model that may have its provider in front: `anthropic/claude-haiku-4-5`. */
function findRow(model: string, provider: string | undefined): Row | undefined {
  const [, prefix, rest] = /^([^/]+)\/(.+)$/.exec(model) ?? [];
  const tries: (readonly [string, string | undefined])[] = [[model, provider]];
  if (prefix !== undefined && rest !== undefined) tries.push([rest, prefix], [rest, provider]);
  for (const [modelId, providerId] of tries) {
    // A provider that the table doesn't have has prices of its own.
    if (providerId !== undefined && !findProvider({ providerId })) continue;
    const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, modelId, providerId === undefined ? {} : { providerId });
    if (found) return found;
  }
  return undefined;
}

/** Sums of fractions are off by less, and no limit makes less of a difference. */
const ROUNDING = 1e-6;

function meanOf(
  { inputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0, outputTokens = 0 }: ReportedUsage,
  requests: number,
): ReportedUsage {
  return {
    inputTokens: inputTokens / requests,
    cachedInputTokens: cachedInputTokens / requests,
    cacheWriteTokens: cacheWriteTokens / requests,
    outputTokens: outputTokens / requests,
  };
}

/** The package refuses parts that are more than their whole: such an input is what its parts are. */
function tokensOf({ inputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0, outputTokens = 0 }: ReportedUsage): {
  readonly input_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
} {
  return {
    input_tokens: Math.max(inputTokens, cachedInputTokens + cacheWriteTokens),
    cache_read_tokens: cachedInputTokens,
    cache_write_tokens: cacheWriteTokens,
    output_tokens: outputTokens,
  };
}
