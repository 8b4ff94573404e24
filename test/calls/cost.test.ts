/** The cost of an attempt is that of its reply, that of a table, or unknown. calls.md 10. */
import { describe, expect, it } from 'vitest';

import { costOf, costOfReplies, type PriceTable } from '../../src/calls/price/cost.js';
import { ownPrices } from '../../src/calls/price/own-prices.js';
import type { ReportedUsage } from '../../src/calls/replies/reply.js';
import { addUsage } from '../../src/calls/usage.js';

const TABLE: PriceTable = {
  name: 'prices@1',
  priceOf: (usage, model) =>
    model.startsWith('oracle')
      ? { costUsd: ((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)) / 1e6, priceModel: 'oracle-2' }
      : undefined,
};
const FREE: PriceTable = { name: 'free@1', priceOf: (_, model) => ({ costUsd: 0, priceModel: model }) };
const TOKENS = { inputTokens: 1_000_000, outputTokens: 500_000 };

describe('the cost of an attempt', () => {
  it('is what the reply says, whatever a table has', () => {
    expect(costOf({ ...TOKENS, model: 'oracle-2', costUsd: 0.2 }, { tables: [TABLE] })).toMatchObject({ costUsd: 0.2, costSource: 'told' });
  });

  it('is that of the table where the reply says none, or 0 beside tokens', () => {
    const priced = { costUsd: 1.5, costSource: 'table', priceTable: 'prices@1', priceModel: 'oracle-2' };
    expect(costOf({ ...TOKENS, model: 'oracle-2' }, { tables: [TABLE] })).toMatchObject(priced);
    expect(costOf({ ...TOKENS, model: 'oracle-2', costUsd: 0 }, { tables: [TABLE] })).toMatchObject(priced);
    expect(costOf({ ...TOKENS, model: 'oracle-2', costUsd: 0 }, { tables: [FREE] })).toMatchObject({ costUsd: 0, costSource: 'told' });
  });

  it('is estimated where requests were taken for equally large, and says nothing of their number', () => {
    const mean: PriceTable = { name: 'mean@1', priceOf: (_, model) => ({ costUsd: 1, priceModel: model, isMean: true }) };
    const models = [
      { ...TOKENS, model: 'a', requests: 2 },
      { ...TOKENS, model: 'b', requests: 3 },
    ];
    const one = costOfReplies([{ ...TOKENS, model: 'a', requests: 2 }], { tables: [mean] });
    expect(one).toEqual({ ...TOKENS, model: 'a', costUsd: 1, costSource: 'table', priceTable: 'mean@1', priceModel: 'a', estimated: true });
    expect(JSON.stringify(costOfReplies([{ ...TOKENS, models }], { tables: [mean] }))).not.toMatch(/requests|isMean/);
    expect(JSON.stringify(costOfReplies(models, { tables: [mean] }))).not.toMatch(/requests|isMean/);
  });

  it('is unknown, and not 0, for a model without a row', () => {
    const unknown = costOf({ ...TOKENS, model: 'local', costUsd: 0 }, { tables: [TABLE] });
    expect(unknown).toMatchObject({ costSource: 'unknown' });
    expect(unknown).not.toHaveProperty('costUsd');
  });

  it('is unknown where a price of the configuration makes more of it than any call costs', () => {
    const wrong = ownPrices({ 'oracle-2': { input: 1e300 } });
    expect(costOf({ ...TOKENS, model: 'oracle-2' }, { tables: [wrong, TABLE] })).toMatchObject({ costSource: 'unknown' });
  });

  it('is by the model of the command line where the reply names none', () => {
    expect(costOf(TOKENS, { model: 'oracle-2', tables: [TABLE] })).toMatchObject({ model: 'oracle-2', costUsd: 1.5 });
  });

  it('is estimated where the row is of another model, but for a provider, a date and a larger window', () => {
    const estimated = (model: string): unknown => costOf({ ...TOKENS, model }, { tables: [TABLE] }).estimated;
    expect(estimated('oracle-2-20260101')).toBeUndefined();
    expect(estimated('oracle-2[1m]')).toBeUndefined();
    expect(estimated('oracle-3')).toBe(true);
  });

  it('adds the models of a reply, each by its own row', () => {
    const models = [
      { model: 'oracle-2', inputTokens: 1_000_000 },
      { model: 'oracle-1', inputTokens: 500_000 },
    ];
    expect(costOf({ model: 'oracle-2', inputTokens: 1_500_000, models }, { tables: [TABLE] })).toMatchObject({
      costUsd: 1.5,
      estimated: true,
    });
    expect(
      costOf({ model: 'oracle-2', inputTokens: 9, models: [...models, { model: 'local', inputTokens: 1 }] }, { tables: [TABLE] }),
    ).toMatchObject({ costSource: 'unknown' });
  });
});

describe('prices of the configuration', () => {
  const prices = ownPrices({
    'anthropic/claude-haiku-5-5': { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
    'local-*': { input: 0 },
    'local-big': { input: 2 },
    'coast/tide-2*': { input: 1 },
  });
  const cost = (model: string, usage: object, provider?: string): number | undefined =>
    prices.priceOf({ ...usage }, model, provider)?.costUsd;

  it('have a rate for each kind of token', () => {
    const usage = { inputTokens: 1_000_000, cachedInputTokens: 500_000, cacheWriteTokens: 200_000, outputTokens: 100_000 };
    expect(cost('claude-haiku-5-5', usage, 'anthropic')).toBeCloseTo(0.3 + 0.05 + 0.25 + 0.5, 9);
  });

  it('take an exact name before a beginning, 0 as a price, and the rate of input for one that is left out', () => {
    expect(cost('local-small', TOKENS)).toBe(0);
    expect(cost('local-big', TOKENS)).toBe(3);
    expect(cost('oracle', TOKENS)).toBeUndefined();
  });

  it('are recorded under the name of their row, and estimated where that is not the model', () => {
    const priced = (model: string, provider?: string): object =>
      costOf({ ...TOKENS, model, ...(provider && { provider }) }, { tables: [prices] });
    expect(priced('local-small')).toMatchObject({ priceTable: 'mlld-config', priceModel: 'local-*', estimated: true });
    const dated = priced('tide-2-20260901', 'coast');
    expect(dated).toMatchObject({ priceModel: 'coast/tide-2*' });
    expect(dated).not.toHaveProperty('estimated');
  });
});

describe('the cost of several models in one body', () => {
  const ORACLE = { model: 'oracle-2', inputTokens: 100_000 };
  const told = (model: string, costUsd: number): ReportedUsage => ({ model, inputTokens: 10, costUsd });

  it('is that of each, the largest first; what is of one model stays one', () => {
    const sum = addUsage(addUsage(told('small', 0.25), told('large', 0.5)), told('small', 0.125));
    expect(costOf(sum, { tables: [TABLE] })).toEqual({
      model: 'large',
      inputTokens: 30,
      costUsd: 0.875,
      costSource: 'told',
      models: [told('large', 0.5), { ...told('small', 0.375), inputTokens: 20 }],
    });
    expect(addUsage(told('small', 0.25), told('small', 0.25))).toEqual({ ...told('small', 0.5), inputTokens: 20 });
    expect(addUsage({ inputTokens: 1 }, { model: 'small', outputTokens: 2 })).toEqual({ model: 'small', inputTokens: 1, outputTokens: 2 });
  });

  it('is by the rows of each where no reply told it', () => {
    const sum = addUsage({ ...ORACLE, provider: 'delphi' }, { ...ORACLE, model: 'oracle-3', inputTokens: 300_000 });
    const costed = costOf(sum, { tables: [TABLE] });
    expect(costed).toMatchObject({ model: 'oracle-3', costUsd: 0.4, costSource: 'table' });
    expect(costed.models?.map(({ model, costUsd }) => [model, costUsd])).toEqual([['oracle-3', 0.3], ['oracle-2', 0.1]]); // prettier-ignore
  });

  it('takes those from the table that told none beside others that did, and is estimated where one has no row', () => {
    const mixed = costOf(addUsage(told('small', 0.25), ORACLE), { tables: [TABLE] });
    expect(mixed).toMatchObject({ model: 'small', costUsd: 0.35, costSource: 'table', priceTable: 'prices@1' });
    expect(mixed.estimated).toBeUndefined();
    const lacking = costOf(addUsage(told('small', 0.25), { ...ORACLE, model: 'local' }), { tables: [TABLE] });
    expect(lacking).toMatchObject({ model: 'small', costUsd: 0.25, costSource: 'told', estimated: true });
  });

  it('is the told one of a reply that says it for the whole, and for its models only in part', () => {
    const models = [told('large', 0.5), { model: 'oracle-2', inputTokens: 5 }];
    expect(costOf({ model: 'large', inputTokens: 15, costUsd: 0.75, models }, { tables: [TABLE] })).toMatchObject({
      costUsd: 0.75,
      costSource: 'told',
    });
  });
});

describe('the cost of several replies in one body', () => {
  const by = { tables: [TABLE] };
  const told: ReportedUsage = { model: 'oracle-2', inputTokens: 100_000, costUsd: 0.25 };
  const untold: ReportedUsage = { model: 'oracle-2', inputTokens: 300_000 };

  it('is that of each by itself, also where they are of one model', () => {
    const both = {
      model: 'oracle-2',
      inputTokens: 400_000,
      costUsd: 0.55,
      costSource: 'table',
      priceTable: 'prices@1',
      priceModel: 'oracle-2',
    };
    expect(costOfReplies([told, untold], by)).toEqual(both);
    expect(costOfReplies([{ ...untold, costUsd: 0 }, told], by)).toEqual(both);
    expect(costOfReplies([told, told], by)).toMatchObject({ inputTokens: 200_000, costUsd: 0.5, costSource: 'told' });
    expect(costOfReplies([], by)).toBeUndefined();
  });

  it('is an estimate without that of a reply which has none, and unknown where no other told it', () => {
    const local = { model: 'local', inputTokens: 9 };
    expect(costOfReplies([told, { inputTokens: 9 }], by)).toMatchObject({ costUsd: 0.25, costSource: 'told', estimated: true });
    expect(costOfReplies([told, local], by)).toMatchObject({ costUsd: 0.25, costSource: 'told', estimated: true });
    const unknown = costOfReplies([untold, { ...local, costUsd: 0 }], by);
    expect(unknown).toMatchObject({ inputTokens: 300_009, costSource: 'unknown' });
    expect(unknown).not.toHaveProperty('costUsd');
    expect(unknown).not.toHaveProperty('priceTable');
    expect(costOfReplies([{ costUsd: 0 }, local], by)).toEqual({ ...local, costSource: 'unknown' });
    expect(costOfReplies([{ costUsd: 0 }, { costUsd: 0 }], by)).toEqual({ costUsd: 0, costSource: 'told' });
    expect(costOfReplies([told, { inputTokens: 0, outputTokens: 0 }], by)).not.toHaveProperty('estimated');
  });
});
