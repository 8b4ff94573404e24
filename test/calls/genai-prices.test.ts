import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { genaiPrices } from '../../src/calls/price/genai-prices.js';
import { createPricing } from '../../src/calls/price/pricing.js';

const MILLION = { inputTokens: 1_000_000, outputTokens: 100_000 };

describe('the table of genai-prices', () => {
  const table = genaiPrices();

  it('is named after the installed version', () => {
    const { dependencies } = createRequire(import.meta.url)('../../package.json') as { dependencies: Record<string, string> };
    expect(table.name).toBe(`genai-prices@${dependencies['@pydantic/genai-prices']}`);
  });

  it('is given all input tokens, the cached and written ones among them', () => {
    const all = table.priceOf(
      { inputTokens: 1000, cachedInputTokens: 300, cacheWriteTokens: 200, outputTokens: 100 },
      'claude-sonnet-4-5',
      undefined,
    );
    expect(all?.costUsd).toBeCloseTo((500 * 3 + 300 * 0.3 + 200 * 3.75 + 100 * 15) / 1e6, 12);
    expect(all?.priceModel).toBe('claude-sonnet-4-5');
  });

  it('takes the requests that the tokens are a sum of for equally large, where rates depend on the size of one', () => {
    const priced = (model: string, requests?: number) =>
      table.priceOf(
        { inputTokens: 600_000, cachedInputTokens: 300_000, outputTokens: 3000, ...(requests && { requests }) },
        model,
        undefined,
      );
    const one = priced('gemini-2.5-pro', 1);
    expect(priced('gemini-2.5-pro')).toEqual(one);
    const small = table.priceOf({ inputTokens: 100_000, cachedInputTokens: 50_000, outputTokens: 500 }, 'gemini-2.5-pro', undefined);
    const several = priced('gemini-2.5-pro', 6);
    expect(several).toMatchObject({ isMean: true, priceModel: 'gemini-2.5-pro' });
    expect(several?.costUsd).toBeCloseTo((small?.costUsd ?? 0) * 6, 9);
    expect(one?.costUsd).toBeGreaterThan((several?.costUsd ?? 0) * 1.9);
    expect(priced('gemini-2.5-pro', 2)).toEqual(one); // each is beyond the limit
    expect(priced('gpt-5', 7)).toEqual(priced('gpt-5'));
  });

  it.each([
    ['gpt-5', undefined],
    ['gpt-5', 'openai'],
    ['openai/gpt-5', undefined],
  ])('finds %s of %s', (model, provider) => {
    expect(table.priceOf(MILLION, model, provider)).toMatchObject({ priceModel: 'gpt-5' });
  });

  it.each([
    ['nobody-knows-9', undefined],
    ['gpt-5', 'a-house-of-our-own'],
  ])('has no row for %s of %s', (model, provider) => {
    expect(table.priceOf(MILLION, model, provider)).toBeUndefined();
  });

  it('takes an input that is less than its parts for their sum', () => {
    expect(table.priceOf({ inputTokens: 10, cachedInputTokens: 400 }, 'gpt-5', undefined)).toEqual(
      table.priceOf({ inputTokens: 400, cachedInputTokens: 400 }, 'gpt-5', undefined),
    );
  });
});

describe('the price of an attempt', () => {
  const pricing = (loads: string[], own = {}) => {
    const warnings: string[] = [];
    const price = createPricing({
      own,
      loadTable: async () => {
        loads.push('table');
        if (loads.includes('broken')) throw new Error('no such file');
        return genaiPrices();
      },
      warn: (message) => void warnings.push(message),
    });
    return { price, warnings };
  };

  it('loads the table once, and only where no told cost and no own price says it', async () => {
    const loads: string[] = [];
    const { price } = pricing(loads, { 'house-*': { input: 1 } });
    expect(await price([{ costUsd: 0.5, model: 'gpt-5', inputTokens: 1 }], undefined)).toMatchObject({ costSource: 'told' });
    expect(await price([{ ...MILLION, model: 'house-1' }], undefined)).toMatchObject({ costSource: 'table', priceTable: 'mlld-config' });
    expect(await price([MILLION], undefined)).toEqual({ ...MILLION, costSource: 'unknown' });
    expect(loads).toEqual([]);
    const priced = { costSource: 'table', priceTable: 'genai-prices@0.1.8', priceModel: 'gpt-5', model: 'gpt-5', costUsd: 2.25 };
    expect(await Promise.all([price([MILLION], 'gpt-5'), price([{ ...MILLION, model: 'gpt-5' }], 'gpt-4')])).toMatchObject([
      priced,
      priced,
    ]);
    expect(loads).toEqual(['table']);
  });

  it('loads the table for a reply that told no cost beside one that did', async () => {
    const loads: string[] = [];
    const { price } = pricing(loads);
    const told = { model: 'claude-sonnet-4-5', inputTokens: 10, costUsd: 0.5 };
    const sum = { costUsd: 2.75, costSource: 'table', priceModel: 'gpt-5' };
    expect(await price([told, { ...MILLION, model: 'gpt-5' }], undefined)).toMatchObject(sum);
    const models = [told, { ...MILLION, model: 'gpt-5' }];
    expect(await price([{ model: told.model, inputTokens: 1_000_010, costUsd: 0.5, models }], undefined)).toMatchObject(sum);
    expect(loads).toEqual(['table']);
  });

  it('is an estimate where the row is that of another model', async () => {
    const { price } = pricing([]);
    expect(await price([{ ...MILLION, model: 'claude-sonnet-5-9-preview' }], undefined)).toMatchObject({
      priceModel: 'claude-sonnet-5',
      estimated: true,
    });
    expect(await price([{ ...MILLION, model: 'claude-sonnet-4-5-20250929' }], undefined)).not.toHaveProperty('estimated');
  });

  it('is unknown where the table is broken, because a paid result is not lost for its price', async () => {
    const { price, warnings } = pricing(['broken']);
    expect(await price([{ ...MILLION, model: 'gpt-5' }], undefined)).toMatchObject({ costSource: 'unknown' });
    expect(await price([{ ...MILLION, model: 'gpt-5' }], undefined)).toMatchObject({ costSource: 'unknown' });
    expect(warnings).toEqual(["the table of prices can't be loaded, so that costs which no reply tells are unknown: no such file"]);
  });
});
