/** Prices of the project's configuration, in US dollars for a million tokens. calls.md 10.4. */
import type { Price, PriceTable } from './cost.js';
import type { ReportedUsage } from '../replies/reply.js';

/** A rate that is left out is that of `input`; 0 is a price. */
export interface OwnPrice {
  readonly input: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
}

const MILLION = 1_000_000;

/**
 * Finds prices by `provider/model`, by `model`, or by a beginning that ends with `*`. An exact name counts more than a beginning, and a
 * longer beginning more than a shorter one.
 */
export function ownPrices(prices: { readonly [name: string]: OwnPrice }): PriceTable {
  const names = Object.keys(prices).sort(
    (left, right) => Number(left.endsWith('*')) - Number(right.endsWith('*')) || right.length - left.length,
  );
  return {
    name: 'mlld-config',
    priceOf(usage, model, provider): Price | undefined {
      const calledAs = [model, ...(provider === undefined ? [] : [`${provider}/${model}`]), model.replace(/^.*\//, '')];
      const name = names.find((each) =>
        calledAs.some((called) => (each.endsWith('*') ? called.startsWith(each.slice(0, -1)) : called === each)),
      );
      const price = name === undefined ? undefined : prices[name];
      return price && name !== undefined ? { costUsd: costAt(price, usage), priceModel: name } : undefined;
    },
  };
}

function costAt({ input, cachedInput = input, cacheWrite = input, output = input }: OwnPrice, usage: ReportedUsage): number {
  const { inputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = usage;
  const uncached = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  return (uncached * input + cachedInputTokens * cachedInput + cacheWriteTokens * cacheWrite + outputTokens * output) / MILLION;
}
